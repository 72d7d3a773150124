/// One page of an event's audience, with everything that is needed to push to it and to park what fails.
public struct DispatchJob: Sendable {
    /// The deliveries that end with this job: the event's own, and those of the events that it stands for.
    public var tags: [DeliveryTag]
    /// The message of the event, for copies that are parked.
    public var message: Message
    /// The history of the event.
    public var parking: ParkingRecord
    /// From which each push derives its `apns-id`.
    public var identity: PushIdentity
    /// What it says, for each app among its devices.
    public var renderings: [AppRendering]
    /// The devices of this page.
    public var devices: [Device]
    /// Where the next page begins; nil if this is the last.
    public var continuation: AudienceCursor?
    /// When the event was published, in milliseconds since 1970, for the lag; nil if unknown.
    public var publishedAtMilliseconds: Int64?
    /// Whether each push gets one attempt only.
    public var isNowOrNever: Bool

    /// Creates a job.
    public init(
        tags: [DeliveryTag], message: Message, parking: ParkingRecord, identity: PushIdentity,
        renderings: [AppRendering], devices: [Device], continuation: AudienceCursor? = nil,
        publishedAtMilliseconds: Int64? = nil, isNowOrNever: Bool = false
    ) {
        self.tags = tags
        self.message = message
        self.parking = parking
        self.identity = identity
        self.renderings = renderings
        self.devices = devices
        self.continuation = continuation
        self.publishedAtMilliseconds = publishedAtMilliseconds
        self.isNowOrNever = isNowOrNever
    }
}
