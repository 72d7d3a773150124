public import Essentials

/// A question to the registry: the devices of an event, or of a page of it.
public struct AudienceQuestion: Sendable {
    /// The event.
    public let event: DecodedEvent
    /// The device to leave out.
    public var excludedDeviceID: String?
    /// Where the page begins; nil for the start of the audience.
    public var cursor: AudienceCursor?
    /// Whether a large audience may be planned in chunks.
    public var mayBePlanned: Bool
    /// Whether it was asked before and not answered, so that subscriptions may be claimed for the event already.
    public var isRepeated = false

    /// Creates a question that is asked for the first time.
    public init(event: DecodedEvent, excludedDeviceID: String?, cursor: AudienceCursor?, mayBePlanned: Bool) {
        self.event = event
        self.excludedDeviceID = excludedDeviceID
        self.cursor = cursor
        self.mayBePlanned = mayBePlanned
    }
}

/// The answer to an `AudienceQuestion`.
public enum AudienceResult: Sendable {
    /// Devices that are all told the same.
    case devices(AddressedPage)
    /// Devices that are told what their subscription says, with the badges of those whose subscription counts them.
    case subscribers(SubscriberPage, badges: [ByteText: Int])
    /// More devices than one worker is to serve, so that they are served in chunks: some of them, and the fan-out of a
    /// redelivered event, if it has one.
    case large(firstDevices: [Recipient], known: FanOut?)
    /// A chunk that is not to be served any more.
    case chunkOver(FanOutChunkState)

    /// How many devices there are on the page.
    var deviceCount: Int {
        switch self {
        case .devices(let addressed): addressed.page.devices.count
        case .subscribers(let page, _): page.entries.count
        case .large, .chunkOver: 0
        }
    }
}
