public import ChangeEvents
public import Essentials
public import Messages
public import Notifications
public import RegistryCore

/// One page of an event's audience, with everything that is needed to push to it and to requeue what fails.
///
/// Nothing of it changes while its pushes are out, so all who work on it share one copy.
public final class DispatchJob: Sendable {
    /// The deliveries that end with this job: the event's own, and those of the events that it stands for.
    public let tags: [DeliveryTag]
    /// The class of the queue that it came from, which decides what it has to wait for.
    public let deliveryClass: DeliveryClass
    /// The message of the event, for copies that are requeued.
    public let message: Message
    /// The history of the event.
    public let retryState: RetryState
    /// From which each push derives its `apns-id`.
    public let identity: PushIdentity
    /// The event, for what is told of its pushes; nil if it could not be decoded.
    public let event: DecodedEvent?
    /// The content for each app among its devices.
    public let renderings: [AppRendering]
    /// The devices of this page.
    public let devices: [Recipient]
    /// The content and the subscription for each of `devices`; empty if every device gets its app's content.
    let assignments: [PushAssignment]
    /// Where the next page begins; nil if this is the last.
    let continuation: AudienceCursor?
    /// The delivery whose chunk this is a page of; nil for all other jobs.
    ///
    /// The delivery ends with the last page and not with this job, whose `tags` are empty.
    public let chunk: DeliveryTag?
    /// When the change happened, for the lag; nil if unknown.
    public let changed: WallTime?
    /// Whether each push gets one attempt only.
    let expiresImmediately: Bool
    /// The dataset whose order waits for this job; nil if no other job waits for it.
    let dataset: DatasetKey?
    /// The sync count for its devices; nil if it has none.
    let announcement: DatasetAnnouncement?
    /// The pushes that it makes needless, and those without a device, as far as their backends want to hear of them.
    let unsent: [UnsentPushes]
    /// The wrong entries of its event's target; nil for nearly all jobs.
    let refused: RefusedEntries?

    /// Creates a job.
    public init(
        tags: [DeliveryTag], deliveryClass: DeliveryClass = .interactive, message: Message, retryState: RetryState,
        identity: PushIdentity, event: DecodedEvent? = nil,
        renderings: [AppRendering], devices: [Recipient], assignments: [PushAssignment] = [],
        continuation: AudienceCursor? = nil, chunk: DeliveryTag? = nil,
        changed: WallTime? = nil, expiresImmediately: Bool = false, dataset: DatasetKey? = nil,
        announcement: DatasetAnnouncement? = nil, unsent: [UnsentPushes] = [], refused: RefusedEntries? = nil
    ) {
        self.tags = tags
        self.deliveryClass = deliveryClass
        self.message = message
        self.retryState = retryState
        self.identity = identity
        self.event = event
        self.renderings = renderings
        precondition(assignments.isEmpty || assignments.count == devices.count, "one assignment for each device")
        self.devices = devices
        self.assignments = assignments
        self.continuation = continuation
        self.chunk = chunk
        self.changed = changed
        self.expiresImmediately = expiresImmediately
        self.dataset = dataset
        self.announcement = announcement
        self.unsent = unsent
        self.refused = refused
    }

    /// The same for some of the devices.
    ///
    /// - Parameters:
    ///   - indices: the devices, by their places.
    ///   - isFirst: whether the part also has what the page has once: where the next page begins.
    /// - Returns: the part.
    func part(of indices: [Int], isFirst: Bool) -> DispatchJob {
        DispatchJob(
            tags: tags, deliveryClass: deliveryClass, message: message, retryState: retryState, identity: identity,
            event: event, renderings: renderings, devices: indices.map { devices[$0] },
            assignments: assignments.isEmpty ? [] : indices.map { assignments[$0] },
            continuation: isFirst ? continuation : nil, chunk: chunk, changed: changed,
            expiresImmediately: expiresImmediately, dataset: dataset, announcement: announcement,
            unsent: isFirst ? unsent : [], refused: isFirst ? refused : nil)
    }

    /// How late its pushes are at a moment, in milliseconds: since the change, or since a worker first saw the event.
    func lag(at moment: WallTime) -> Int64 { max(0, moment - (changed ?? retryState.published)) }

    /// The name of a device in a requeued copy, with its subscription if it has one.
    func retryName(of device: Int) -> String {
        let deviceID = devices[device].deviceID
        guard !assignments.isEmpty else { return deviceID }
        return Subscriber(subscription: assignments[device].subscription, deviceID: deviceID).retryName
    }
}

/// Pushes of an event that are not sent: another event says the same, or no device is there for them.
public struct UnsentPushes: Sendable {
    /// The event whose pushes they are.
    let event: DecodedEvent
    /// The pushes.
    let pushes: [EndedPush]
}

/// Wrong entries of the target of a job's event, which become a dead letter beside its pushes.
public struct RefusedEntries: Sendable {
    /// The entries.
    let targets: RefusedTargets
    /// The app of the event.
    let app: String
    /// Whether the app's backend wants to hear of them.
    let areTold: Bool
}

/// The outcome of a job's arrival.
public enum JobArrival: Hashable, Sendable {
    /// Its pushes go out, or it has none.
    case taken
    /// It waits in a retry queue, because its app is slow.
    case deferred
    /// Its app is slow and it could not wait: it would have lost its use by then, or was tried for too long already.
    case ended
}

/// The content of an event for the devices that one route leads to.
public struct AppRendering: Sendable {
    /// The route.
    public var app: AppRoute
    /// The payload and the headers that its devices share, or why its push service would refuse the push.
    ///
    /// The pushes that cannot be made become dead letters; devices of other push services are told all the same.
    public var content: Result<PushContent, EventRejection>
    /// The identifier of the subscription to records that it is for; nil if it is for none.
    public var subscriptionID: String?

    /// Creates a rendering.
    init(app: AppRoute, content: Result<PushContent, EventRejection>, subscriptionID: String? = nil) {
        self.app = app
        self.content = content
        self.subscriptionID = subscriptionID
    }

    /// Creates the rendering of a push that can be made.
    public init(app: AppRoute, content: PushContent, subscriptionID: String? = nil) {
        self.init(app: app, content: .success(content), subscriptionID: subscriptionID)
    }

    /// Why the push cannot be made, if so.
    var problem: EventRejection? { if case .failure(let problem) = content { problem } else { nil } }

    /// The content of a push that can be made.
    var sendable: PushContent {
        guard case .success(let content) = content else { preconditionFailure("only a push that can be made is sent") }
        return content
    }

    /// Whether it is for a device.
    func serves(_ device: Recipient) -> Bool {
        app.transportRoute(to: device.platform) != nil && app.name == device.app
    }
}

/// The content for one device of a job, and its subscription.
public struct PushAssignment: Hashable, Sendable {
    /// The index of its content in the job's renderings; nil if no route leads to it.
    var rendering: Int?
    /// The row of the subscription.
    public var subscription: Int64
    /// Why its push cannot be made, if so; it goes to the dead letters with this.
    var problem: EventRejection?
}
