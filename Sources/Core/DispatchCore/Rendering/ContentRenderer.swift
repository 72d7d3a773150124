public import ChangeEvents
public import Essentials
public import Notifications
public import RegistryCore

/// Renders events for the apps of their devices.
public struct ContentRenderer {
    private let apps: [PipelineConfiguration.App]
    /// The routes of all apps, each at its index.
    private let routes: [AppRoute]
    private let appByName: [String: Int]
    private let knownPoolIDs: Set<String>
    private let receipts: ReceiptAuthentication?
    /// The member of a payload that holds a receipt.
    private static let receiptKey = "apusReceipt"
    /// The present hour, in whole hours since 1970: when receipts are issued.
    var hour: Int64 = 0
    /// By route.
    private var builders: [any ContentBuilder]

    /// Creates a renderer.
    ///
    /// - Parameters:
    ///   - apps: the apps.
    ///   - receipts: proves the receipts in pushes of campaigns; nil for none.
    public init(apps: [PipelineConfiguration.App], receipts: ReceiptAuthentication? = nil) {
        self.apps = apps
        self.receipts = receipts
        let routes = apps.routes
        self.routes = routes
        appByName = Dictionary(
            zip(apps, apps.indices).map { ($0.name, $1) }, uniquingKeysWith: { first, _ in first })
        knownPoolIDs = Set(apps.flatMap(\.identityPoolIDs))
        builders = routes.map { $0.service.makeContentBuilder(bundleID: $0.bundleID) }
    }

    /// Whether an app of that name is configured.
    func hasApp(named name: String) -> Bool { appByName[name] != nil }

    /// The indices of all routes of an app; none if no app has that name.
    func routeIndices(ofApp name: String) -> [Int] {
        appByName[name].map { apps[$0].routes.map(\.index) } ?? []
    }

    /// The route to a device; nil if its app is not configured, or does not use its push service.
    public func route(to device: Recipient) -> AppRoute? {
        guard let app = appByName[device.app] else { return nil }
        return apps[app].routes.first { $0.transportRoute(to: device.platform) != nil }
    }

    /// The indices of the routes that a flow of large fan-outs pushes to.
    ///
    /// - Parameter flow: the name of an app, or an identity pool.
    /// - Returns: their indices; none for a flow that is neither.
    public func routeIndices(ofFlow flow: String) -> [Int] {
        if let app = appByName[flow] { return apps[app].routes.map(\.index) }
        return apps.filter { $0.identityPoolIDs.contains(flow) }.flatMap(\.routes).map(\.index)
    }

    /// The route at that index; nil for that of devices that no route leads to.
    public func route(at index: Int) -> AppRoute? { routes.indices.contains(index) ? routes[index] : nil }

    /// The route that has that route of the transport.
    public func route(ofTransport transportRoute: Int) -> AppRoute? {
        routes.first { $0.has(transportRoute: transportRoute) }
    }

    /// Validates an event as a whole, before its audience is looked up: its app is configured, and the app's first push
    /// service takes the push that it asks for.
    ///
    /// A push that only a further service would refuse is made for the others.
    ///
    /// - Returns: the renderings of a requested push; empty for other events, whose content Apus makes.
    /// - Throws: `EventRejection`, even if there is no device for it.
    public mutating func validate(
        _ event: ChangeEvent, expiresAt: WallTime?
    ) throws(EventRejection) -> [AppRendering] {
        try checkApp(of: event)
        guard case .push(let push) = event.kind, let app = appByName[push.app] else { return [] }
        try push.checkTarget()
        let route = firstService(of: app)
        return [AppRendering(app: route, content: try content(event, expiresAt: expiresAt, route: route.index))]
    }

    /// The route to the first push service that an app uses, which decides whether an event is valid.
    private func firstService(of app: Int) -> AppRoute {
        let routes = apps[app].routes
        return routes.first { $0.service != .courier } ?? routes[0]
    }

    private func checkApp(of event: ChangeEvent) throws(EventRejection) {
        switch event.kind {
        case .push(let push): try checkApp(named: push.app)
        case .record(let change): if let app = change.app { try checkApp(named: app) }
        case .dataset(let change):
            guard !knownPoolIDs.contains(change.key.identityPoolID) else { return }
            throw EventRejection(
                .unknownApp,
                "No app has the identity pool \(change.key.identityPoolID); add it to identity_pools of its [[app]].")
        }
    }

    private func checkApp(named app: String) throws(EventRejection) {
        guard appByName[app] == nil else { return }
        throw EventRejection(
            .unknownApp,
            "data.app is \"\(app.prefix(100))\", but the configured apps are \(names); "
                + "correct the event or add an [[app]] of that name.")
    }

    private var names: String { apps.map { "\"\($0.name)\"" }.joined(separator: ", ") }

    /// Renders the event for each route to the devices that has no rendering yet.
    mutating func render(
        _ event: ChangeEvent, expiresAt: WallTime?, devices: [Recipient], known: [AppRendering] = []
    ) throws(EventRejection) -> [AppRendering] {
        var renderings = known
        for device in devices.indices {
            if renderings.contains(where: { $0.serves(devices[device]) }) { continue }
            guard let route = route(to: devices[device]) else { continue }
            renderings.append(
                AppRendering(app: route, content: try content(event, expiresAt: expiresAt, for: route)))
        }
        return renderings
    }

    /// Renders an event; a rejection by any but the app's first push service fails only the devices of that service.
    private mutating func content(
        _ event: ChangeEvent, expiresAt: WallTime?, for route: AppRoute
    ) throws(EventRejection) -> Result<PushContent, EventRejection> {
        do throws(EventRejection) {
            return .success(try content(event, expiresAt: expiresAt, route: route.index))
        } catch {
            guard appByName[route.name].map({ firstService(of: $0) }) !== route else { throw error }
            return .failure(error)
        }
    }

    /// Renders the push of a subscription, leaving out parts that exceed the limit of its push service.
    ///
    /// - Returns: the rendering, and whether it shows nothing though it should.
    mutating func render(
        _ subscription: PushedSubscription, _ change: RecordChange, notificationID: String, badge: Int?,
        expiresAt: WallTime?, route: AppRoute
    ) throws(EventRejection) -> (rendering: AppRendering, isReduced: Bool) {
        let push = SubscriptionPush(
            subscription: subscription, change: change, containerID: "iCloud.\(route.bundleID)",
            notificationID: notificationID)
        let options = push.options(expirationSeconds: expiresAt?.seconds)
        let (content, isReduced) = try push.rendered(badge: badge) { (notification) throws(EventRejection) in
            try builders[route.index].content(of: notification, options: options)
        }
        return (
            AppRendering(app: route, content: content, subscriptionID: subscription.key.subscriptionID), isReduced
        )
    }

    private mutating func content(
        _ event: ChangeEvent, expiresAt: WallTime?, route: Int
    ) throws(EventRejection) -> PushContent {
        // Rounded down: a push must not outlive its event.
        let expirationSeconds = expiresAt?.seconds
        switch event.kind {
        case .dataset(let change):
            return try builders[route].content(of: change, expirationSeconds: expirationSeconds)
        case .record:
            preconditionFailure("what a record event says is its subscriptions' to say")
        case .push(let push):
            var (notification, options) = push.content(for: routes[route].service)
            if options.expirationSeconds != 0 { options.expirationSeconds = expirationSeconds }
            let isShown = (options.pushType ?? NotificationRules.pushType(of: notification)) == .alert
            if isShown, options.collapseID == nil {
                options.replacementID = DerivedCollapseID.ofEvent(event.identifier, of: event.source)
            }
            guard isShown, let receipt = receipt(of: push, event) else {
                return try builders[route].content(of: notification, options: options)
            }
            let plain = notification
            notification.customData.append(receipt)
            do throws(EventRejection) {
                return try builders[route].content(of: notification, options: options)
            } catch {
                // The push goes before its count: without the receipt it may be small enough.
                return try builders[route].content(of: plain, options: options)
            }
        }
    }

    /// The receipt that a push carries, if it is of a campaign and its app's devices report opened pushes.
    private func receipt(of push: RequestedPush, _ event: ChangeEvent) -> CustomDatum? {
        guard let receipts, let campaign = push.campaign, let app = appByName[push.app], apps[app].reportsOpens
        else { return nil }
        let receipt = OpenReceipt(
            campaign: CampaignKey(app: push.app, name: campaign),
            event: EventDigest(source: event.source, identifier: event.identifier), hour: hour)
        guard let text = receipt.text(mac: receipts) else { return nil }
        return CustomDatum(key: Self.receiptKey, value: RawJSON(validated: Array("\"\(text)\"".utf8)))
    }
}
