public import Essentials
public import Notifications

/// Something changed: what a backend published, understood.
public struct ChangeEvent: Hashable, Sendable {
    /// What kind of change it is, with the facts of that kind.
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
    /// Expiry and age count from publishing instead: `ParkingRecord.published`.
    public var time: WallTime?
    /// How long the message may wait, in milliseconds from its publication: the AMQP property `expiration`.
    public var timeToLiveMilliseconds: Int64?
    /// The kind and its facts.
    public var kind: Kind

    /// Creates an event.
    public init(
        identifier: String, source: String, time: WallTime?, timeToLiveMilliseconds: Int64? = nil, kind: Kind
    ) {
        self.identifier = identifier
        self.source = source
        self.time = time
        self.timeToLiveMilliseconds = timeToLiveMilliseconds
        self.kind = kind
    }
}
