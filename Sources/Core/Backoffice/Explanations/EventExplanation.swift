public import ChangeEvents
public import DispatchCore
import Essentials
public import Messages
public import Notifications
import Predicates
public import RegistryCore

/// The ports of a registry that explain an event.
public typealias ExplainingRegistry = FanOutRegistry & PauseRegistry & Registry & SubscriptionRegistry

/// Why a device would get the push of an event, or would not: each condition on the way, and whether it holds now.
///
/// It asks the registry as it is at this moment, with the code that workers use. So it explains an event of the past
/// only as far as nothing has changed since.
public struct EventExplanation: Hashable, Sendable {
    /// The outcome.
    public enum Verdict: String, Sendable {
        /// Every condition holds.
        case wouldGet = "would-get"
        /// Some condition does not hold.
        case wouldNotGet = "would-not-get"
        /// Something that is not known decides.
        case cannotTell = "cannot-tell"
    }

    /// One condition.
    public struct Step: Hashable, Sendable {
        /// Its name, for example `subscribed`.
        public var check: String
        /// Whether it holds; nil for a note.
        public var holds: Bool?
        /// The finding, and the remedy if it is not intended.
        public var text: String
    }

    /// The outcome.
    public private(set) var verdict = Verdict.wouldGet
    /// The conditions in the order in which a worker asks for them, up to the first that does not hold.
    public private(set) var steps: [Step] = []
    /// The identifier that the push has for APNs; nil if there is none, or it depends on a subscription.
    public private(set) var apnsID: APNsIdentifier?

    /// The outcome in a sentence.
    public var summary: String {
        switch verdict {
        case .wouldGet: "The device would get a push of this event now."
        case .wouldNotGet:
            "The device would get no push of this event now: \(steps.last { $0.holds == false }?.text ?? "")"
        case .cannotTell: "Nothing tells whether the device would get a push of this event."
        }
    }

    /// Explains an event.
    ///
    /// - Parameters:
    ///   - message: the event, as it is published or as a dead letter has it.
    ///   - deviceID: the device.
    ///   - apps: the configured apps.
    ///   - sources: the tables whose changed rows are events.
    ///   - registry: the registry.
    ///   - nowMilliseconds: when it is.
    /// - Throws: `RegistryError` if the registry does not answer.
    public init(
        of message: Message, for deviceID: String, apps: [PipelineConfiguration.App],
        sources: TableSources = TableSources(), registry: any ExplainingRegistry, nowMilliseconds: Int64
    ) throws(RegistryError) {
        try explain(message, deviceID, apps, sources, registry, nowMilliseconds)
    }

    private mutating func explain(
        _ message: Message, _ deviceID: String, _ apps: [PipelineConfiguration.App], _ sources: TableSources,
        _ registry: any ExplainingRegistry, _ nowMilliseconds: Int64
    ) throws(RegistryError) {
        let event: ChangeEvent
        do throws(EventRejection) {
            event = try EventDecoder(sources: sources).decode(message)
            var renderer = ContentRenderer(apps: apps)
            _ = try renderer.validate(event, expiresAt: nil)
        } catch {
            guard error.reason != .skipped else { return refuse("event", "The message is no event: \(error.message).") }
            return refuse(
                "event",
                "The event is not valid, and becomes a dead letter (\(error.reason.rawValue)): \(error.message)")
        }
        accept("event", "The event is valid.")
        var state = RetryState(of: message)
        state.limitLife(to: event)
        guard let device = try registry.device(deviceID) else {
            return refuse(
                "registered",
                "No device is registered under this name now. It may have been removed, or APNs called its token dead.")
        }
        accept("registered", "The device is registered, for the app \(device.app).")
        guard let app = apps.first(where: { $0.name.hasBytes(of: device.app) }) else {
            return refuse("app", "The app \(device.app) is not configured, so its devices get nothing.")
        }
        guard app.routes.contains(where: { $0.transportRoute(to: device.platform) != nil }) else {
            return refuse(
                "platform", "The device is registered for \(device.platform.rawValue), which is not served yet.")
        }
        try explainFanOut(event, registry)
        if let names = state.deviceIDs, !names.contains(where: { $0.hasBytes(of: deviceID) }) {
            return refuse(
                "left", "The dead letter is for other devices of the event: \(names.count) are left, not this one.")
        }
        if let expiresAt = state.expiresAt, expiresAt.milliseconds <= nowMilliseconds {
            return refuse("expiry", "The event expired at \(WallTime.text(milliseconds: expiresAt.milliseconds)).")
        }
        switch event.kind {
        case .dataset(let change): try explain(change, device, state, registry)
        case .push(let push): try explain(push, device, registry)
        case .record(let change): try explain(change, device, state, registry)
        }
        guard verdict == .wouldGet else { return }
        try explainPause(device, registry)
        if case .record = event.kind { return }
        apnsID = PushIdentity(source: event.source, identifier: event.identifier).apnsID(for: device.token)
    }

    private mutating func explainPause(_ device: Device, _ registry: any ExplainingRegistry) throws(RegistryError) {
        let pause = try registry.pauses().first { $0.app.map { $0.hasBytes(of: device.app) } ?? true }
        guard let pause else { return }
        let paused = pause.app == nil ? "All apps are paused" : "The app \(device.app) is paused"
        refuse(
            "paused", "\(paused) (\(pause.explanation)): its pushes wait, and go out when it is resumed.")
    }

    // MARK: Kinds of events

    private mutating func explain(
        _ change: DatasetChange, _ device: Device, _ state: RetryState, _ registry: any ExplainingRegistry
    ) throws(RegistryError) {
        guard let identityID = device.identityID, identityID.hasBytes(of: change.key.identityID) else {
            return refuse(
                "identity",
                "The event is about the identity \(change.key.identityID), and the device belongs to "
                    + "\(device.identityID ?? "none").")
        }
        guard device.identityPoolID?.hasBytes(of: change.key.identityPoolID) == true else {
            return refuse(
                "identity",
                "The event is of the identity pool \(change.key.identityPoolID), and the device of "
                    + "\(device.identityPoolID ?? "none").")
        }
        accept("identity", "The device belongs to the identity of the event.")
        guard try isAddressed(device, by: .dataset(change.key), registry) else {
            let names = try registry.datasetSubscriptions(of: device.deviceID).datasetNames
            return refuse(
                "subscribed",
                "The device is not subscribed to the dataset \(change.key.datasetName), but to "
                    + (names.isEmpty ? "none." : "\(names.prefix(20).joined(separator: ", "))."))
        }
        accept("subscribed", "The device is subscribed to the dataset \(change.key.datasetName).")
        explainOrigin(change.deviceID, device, state)
        guard verdict == .wouldGet else { return }
        note("order", "A push is left out if the device was told of a higher sync count a moment before.")
    }

    private mutating func explain(
        _ push: RequestedPush, _ device: Device, _ registry: any ExplainingRegistry
    ) throws(RegistryError) {
        guard push.app.hasBytes(of: device.app) else {
            return refuse("app", "The event is for the app \(push.app), and the device has \(device.app).")
        }
        guard try isAddressed(device, by: push.audience, registry) else {
            return refuse("addressed", Self.missing(from: push.audience, device))
        }
        accept("addressed", "The device is among the addressees of the event.")
        let kind = push.tokenKind
        guard kind != .alert else { return }
        let tokens = try registry.tokens(of: [device.deviceID]).first ?? []
        guard tokens.contains(where: { $0.kind == kind }) else {
            return refuse("token", "The push needs a token of the kind \(kind.rawValue), and the device has none.")
        }
        accept("token", "The device has a token of the kind \(kind.rawValue).")
    }

    private mutating func explain(
        _ change: RecordChange, _ device: Device, _ state: RetryState, _ registry: any ExplainingRegistry
    ) throws(RegistryError) {
        if let app = change.app, !app.hasBytes(of: device.app) {
            return refuse("app", "The event is for the app \(app), and the device has \(device.app).")
        }
        var (known, matching, isTruncated) = (0, 0, false)
        for owner in [SubscriptionOwner.device(device.deviceID)] + (device.userID.map { [.user($0)] } ?? []) {
            var row: Int64?
            let filter = SubscriptionFilter(app: device.app, owner: owner)
            while !isTruncated {
                let page = try registry.subscriptions(matching: filter, after: row, limit: Self.subscriptionsAtOnce)
                guard let last = page.last else { break }
                row = last.row
                for stored in page {
                    let problem = stored.mismatch(with: change)
                    known += 1
                    if problem == nil { matching += 1 }
                    if problem == nil || known <= Self.subscriptionsShown { note(stored, problem) }
                }
                isTruncated = known >= Self.subscriptionsMaximum
            }
        }
        guard matching > 0 || !isTruncated else {
            verdict = .cannotTell
            return note(
                "subscribed", "None of the first \(known) subscriptions matches; the others were not looked at.")
        }
        guard matching > 0 else {
            return refuse(
                "subscribed",
                "None of the \(known) subscriptions of the device and its user matches the record. One "
                    + "that fires once ends with its push, and is not among them any more.")
        }
        accept("subscribed", "\(matching) of \(known) subscriptions match the record.")
        explainOrigin(change.deviceID, device, state)
    }

    // MARK: Conditions

    /// How many subscriptions are read at once and in all, and of how many it is told why they do not match.
    private static let subscriptionsAtOnce = 200
    private static let subscriptionsMaximum = 5_000
    private static let subscriptionsShown = 50

    private func isAddressed(
        _ device: Device, by audience: Audience, _ registry: any ExplainingRegistry
    ) throws(RegistryError) -> Bool {
        let request = AudienceRequest(audience: audience, onlyDeviceIDs: [device.deviceID])
        return try registry.resolve([request], limit: 1).contains { page in
            page.devices.contains { $0.deviceID.hasBytes(of: device.deviceID) }
        }
    }

    private static func missing(from audience: Audience, _ device: Device) -> String {
        switch audience {
        case .devices(let names, _): "The event names \(names.count) devices, and not this one."
        case .tokens(let tokens, _): "The event names \(tokens.count) tokens, and not this device's."
        case .identities(let names, _):
            "The event names \(names.count) identities, and not that of the device, \(device.identityID ?? "none")."
        case .users(let names, _):
            "The event names \(names.count) users, and not that of the device, \(device.userID ?? "none")."
        case .topic(let topic, _): "The device is not subscribed to the topic \(topic), neither is its user."
        case .dataset(let key): "The device is not subscribed to the dataset \(key.datasetName)."
        }
    }

    private mutating func explainOrigin(_ origin: String?, _ device: Device, _ state: RetryState) {
        guard let origin, origin.hasBytes(of: device.deviceID), !state.notifiesOrigin, state.deviceIDs == nil else {
            return accept("origin", "The device did not make the change itself.")
        }
        refuse("origin", "The device made the change itself (data.deviceId), and is not told of its own changes.")
    }

    private mutating func explainFanOut(
        _ event: ChangeEvent, _ registry: any ExplainingRegistry
    ) throws(RegistryError) {
        let digest = EventDigest(source: event.source, identifier: event.identifier)
        guard let fanOut = try registry.fanOuts(of: [digest]).first else { return }
        note(
            "fan-out",
            "The event was served as the fan-out \(fanOut.number), which is \(fanOut.state.rawValue): "
                + "\(fanOut.chunksServed) of \(fanOut.chunksPlanned) chunks are served. Devices that joined later are "
                + "not part of it.")
    }

    // MARK: Steps

    private mutating func accept(_ check: String, _ text: String) {
        steps.append(Step(check: check, holds: true, text: text))
    }

    private mutating func note(_ stored: StoredSubscription, _ problem: String?) {
        let key = stored.subscription.key
        let name = "\(key.subscriptionID) of the \(key.owner.isUser ? "user" : "device")"
        note(
            "subscription",
            problem.map { "The subscription \(name) does not match: \($0)" } ?? "The subscription \(name) matches.")
    }

    private mutating func note(_ check: String, _ text: String) {
        steps.append(Step(check: check, holds: nil, text: text))
    }

    private mutating func refuse(_ check: String, _ text: String) {
        steps.append(Step(check: check, holds: false, text: text))
        verdict = .wouldNotGet
    }
}

extension StoredSubscription {
    /// Why a change of a record does not concern the subscription; nil if it does.
    fileprivate func mismatch(with change: RecordChange) -> String? {
        if let recordType = subscription.recordType, !recordType.hasBytes(of: change.recordType) {
            return "it is about records of the type \(recordType), and this is a \(change.recordType)."
        }
        guard subscription.firesOn.contains(change.operation.firing) else {
            return "it fires on \(subscription.firesOn.names.joined(separator: ", ")), and the record was "
                + "\(change.operation.rawValue)."
        }
        guard !FollowedSubscription(self).predicate.matches(change.matchedFields) else { return nil }
        guard subscription.predicate.matches(change.fields) else {
            return "its condition does not hold. "
                + PredicateExplanation(of: subscription.predicate, for: change.fields).description
        }
        return "it is about the \(subscription.database.rawValue) database"
            + (subscription.zoneName.map { " and the zone \($0)" } ?? "")
            + ", and the record lies elsewhere or belongs to "
            + "another user."
    }
}

extension RetryState {
    /// The history in the headers of a message that is in no queue: of a dead letter, or of an event to explain.
    public init(of message: Message) {
        let delivery = Delivery(
            tag: DeliveryTag(epoch: 0, number: 0), deliveryClass: .interactive, isRedelivered: false, exchange: "",
            routingKey: "", message: message)
        self.init(of: delivery, nowMilliseconds: WallTime.latest.milliseconds)
    }
}
