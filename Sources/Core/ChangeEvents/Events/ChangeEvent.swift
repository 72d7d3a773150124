public import Essentials
public import Notifications
public import Tracing

/// A decoded event of a backend: a change.
public struct ChangeEvent: Hashable, Sendable {
    /// The kind of the change, with the facts of that kind.
    public enum Kind: Hashable, Sendable {
        /// A dataset of an identity changed, was deleted or merged: `dataset.changed`, `dataset.deleted`,
        /// `datasets.merged`.
        case dataset(DatasetChange)
        /// A record was created, updated or deleted: `record.created`, `record.updated`, `record.deleted`.
        indirect case record(RecordChange)
        /// A backend asks for a push by itself: `push.requested`.
        indirect case push(RequestedPush)
    }

    /// The CloudEvents attribute `id`; with `source` it names the event, so a resend of it is recognised.
    public var identifier: String
    /// The CloudEvents attribute `source`; empty if the publisher gave none in the plain encoding.
    public var source: String
    /// When the change happened, which only the metric of the lag asks: the CloudEvents attribute `time`, else the
    /// header `x-timestamp-ms`, else the AMQP timestamp (whole seconds).
    ///
    /// Expiry and age count from publishing instead: `RetryState.published`.
    public var time: WallTime?
    /// How long the message may wait, in milliseconds from its publication: the AMQP property `expiration`.
    public var timeToLiveMilliseconds: Int64?
    /// The trace that it belongs to, as its publisher says; nil if it says nothing.
    public var trace: TraceContext?
    /// The kind and its facts.
    public var kind: Kind

    /// Creates an event.
    public init(
        identifier: String, source: String, time: WallTime?, timeToLiveMilliseconds: Int64? = nil,
        trace: TraceContext? = nil, kind: Kind
    ) {
        self.identifier = identifier
        self.source = source
        self.time = time
        self.timeToLiveMilliseconds = timeToLiveMilliseconds
        self.trace = trace
        self.kind = kind
    }
}

extension ChangeEvent {
    /// The type.
    public var type: EventType {
        switch kind {
        case .push: .pushRequested
        case .record(let change):
            switch change.operation {
            case .created: .recordCreated
            case .updated: .recordUpdated
            case .deleted: .recordDeleted
            }
        case .dataset(let change):
            switch change.operation {
            case .changed: .datasetChanged
            case .deleted: .datasetDeleted
            case .merged: .datasetsMerged
            }
        }
    }
}

/// A push that a backend asks for by itself.
public struct RequestedPush: Hashable, Sendable {
    /// The app, by its name in the configuration.
    public var app: String
    /// The addressees.
    public var audience: Audience
    /// The content.
    public var notification: Notification
    /// How it is sent.
    public var options: PushOptions
    /// The differences at some push services.
    public var variants: [PushVariant]
    /// The campaign that its pushes are counted for; nil for none.
    public var campaign: String?
    /// The entries of its target that are wrong; nil for nearly all events.
    public var refused: RefusedTargets?

    /// Creates a requested push.
    public init(
        app: String, audience: Audience, notification: Notification, options: PushOptions, variants: [PushVariant] = [],
        campaign: String? = nil
    ) {
        self.app = app
        self.audience = audience
        self.notification = notification
        self.options = options
        self.variants = variants
        self.campaign = campaign
    }

    /// The content, and how it is sent, at one push service.
    public func content(for service: PushService) -> (notification: Notification, options: PushOptions) {
        variants.first { $0.services.contains(service) }.map { ($0.notification, $0.options) }
            ?? (notification, options)
    }
}

/// A requested push as some push services get it: the members that the event gives for them take the place of those for
/// all.
public struct PushVariant: Hashable, Sendable {
    /// The push services.
    var services: Set<PushService>
    /// The content.
    var notification: Notification
    /// How it is sent.
    var options: PushOptions
}

/// How an event is addressed when it is published.
extension ChangeEvent {
    /// The length of a routing key, in bytes (AMQP 0-9-1, 4.2.5.3 "Strings").
    private static let routingKeyBytesMaximum = 255

    /// The type and the subject of the event, at most 255 bytes.
    ///
    /// Operators may bind other queues by it. Work queues share the events by it, with all events of a dataset in one
    /// queue.
    public var routingKey: String {
        var key = "\(type.rawValue).\(subject)"
        while key.utf8.count > Self.routingKeyBytesMaximum { key.removeLast() }
        return key
    }

    private var subject: String {
        switch kind {
        case .dataset(let change): "\(change.key.identityID).\(change.key.datasetName)"
        case .record(let change): change.recordName
        case .push: identifier
        }
    }
}
