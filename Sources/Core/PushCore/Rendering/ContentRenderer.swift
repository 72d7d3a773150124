public import Essentials
public import Notifications

/// Renders events for the apps of their devices.
public struct ContentRenderer {
    private let apps: [PipelineConfiguration.App]
    private let indexByName: [String: Int]
    private let knownPoolIDs: Set<String>
    private var builders: [PushContentBuilder]

    /// Creates a renderer.
    ///
    /// - Parameter apps: the apps, each at its `route.index`.
    public init(apps: [PipelineConfiguration.App]) {
        self.apps = apps
        indexByName = Dictionary(
            apps.map { ($0.route.name, $0.route.index) }, uniquingKeysWith: { first, _ in first })
        knownPoolIDs = Set(apps.flatMap(\.identityPoolIDs))
        builders = apps.map { PushContentBuilder(bundleID: $0.route.bundleID) }
    }

    /// The app of that name, if one is configured.
    public func appIndex(named name: String) -> Int? { indexByName[name] }

    /// The indices of the apps that a flow of large fan-outs pushes to.
    ///
    /// - Parameter flow: the name of an app, or an identity pool.
    /// - Returns: their indices; none for a flow that is neither.
    public func appIndices(ofFlow flow: String) -> [Int] {
        if let index = indexByName[flow] { return [index] }
        return apps.indices.filter { apps[$0].identityPoolIDs.contains(flow) }
    }

    /// The name of the app at that index of the configuration.
    public func appName(at index: Int) -> String { index < apps.count ? apps[index].route.name : "unknown" }

    /// The name of the app that has that route of the transport.
    public func appName(ofRoute route: Int) -> String? {
        apps.first { [$0.route.productionRoute, $0.route.sandboxRoute, $0.route.webRoute].contains(route) }?.route.name
    }

    /// Validates an event as a whole, before its audience is looked up: its app is configured, and APNs takes the push
    /// that it asks for.
    ///
    /// - Returns: the renderings of a requested push; empty for other events, whose content Apus makes.
    /// - Throws: `EventRejection`, even if there is no device for it.
    public mutating func validate(
        _ event: ChangeEvent, expiresAt: WallTime?
    ) throws(EventRejection) -> [AppRendering] {
        try checkApp(of: event)
        guard case .push(let push) = event.kind, let index = indexByName[push.app] else { return [] }
        try push.checkTarget()
        let content = try content(event, expiresAt: expiresAt, app: index)
        return [AppRendering(app: apps[index].route, content: content)]
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
        guard indexByName[app] == nil else { return }
        throw EventRejection(
            .unknownApp,
            "data.app is \"\(app.prefix(100))\", but the configured apps are \(names); "
                + "correct the event or add an [[app]] of that name.")
    }

    private var names: String { apps.map { "\"\($0.route.name)\"" }.joined(separator: ", ") }

    /// Renders the event for each app of the devices that has no rendering yet.
    mutating func render(
        _ event: ChangeEvent, expiresAt: WallTime?, devices: [Recipient], known: [AppRendering] = []
    ) throws(EventRejection) -> [AppRendering] {
        var renderings = known
        for device in devices.indices {
            if renderings.contains(where: { $0.app.name == devices[device].app }) { continue }
            guard let index = indexByName[devices[device].app] else { continue }
            let content = try content(event, expiresAt: expiresAt, app: index)
            renderings.append(AppRendering(app: apps[index].route, content: content))
        }
        return renderings
    }

    /// Renders the push of a subscription, leaving out parts that exceed the limit of APNs.
    ///
    /// - Returns: the rendering, and whether it shows nothing though it should.
    mutating func render(
        _ subscription: PushedSubscription, _ change: RecordChange, notificationID: String, badge: Int?,
        expiresAt: WallTime?, app: Int
    ) throws(EventRejection) -> (rendering: AppRendering, isReduced: Bool) {
        let push = SubscriptionPush(
            subscription: subscription, change: change, containerID: "iCloud.\(apps[app].route.bundleID)",
            notificationID: notificationID)
        let options = push.options(expirationSeconds: expiresAt?.seconds)
        let (content, isReduced) = try push.rendered(badge: badge) { (notification) throws(EventRejection) in
            try builders[app].content(of: notification, options: options)
        }
        return (AppRendering(app: apps[app].route, content: content), isReduced)
    }

    private mutating func content(
        _ event: ChangeEvent, expiresAt: WallTime?, app: Int
    ) throws(EventRejection) -> PushContent {
        // Rounded down: a push must not outlive its event.
        let expirationSeconds = expiresAt?.seconds
        switch event.kind {
        case .dataset(let change):
            return try builders[app].content(of: change, expirationSeconds: expirationSeconds)
        case .record:
            preconditionFailure("what a record event says is its subscriptions' to say")
        case .push(let push):
            var options = push.options
            if options.expirationSeconds != 0 { options.expirationSeconds = expirationSeconds }
            return try builders[app].content(of: push.notification, options: options)
        }
    }
}
