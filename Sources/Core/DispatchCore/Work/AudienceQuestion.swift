public import ChangeEvents
public import Essentials
public import Notifications
public import RegistryCore

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
    /// Whether a backend wants to hear of its pushes, and so whose devices they are and since when.
    public var asksForRegistrations = false
    /// The event, and those that it stands for, as far as the registry may remember them.
    public var identities: [EventIdentity] = []
}

/// The answer to an `AudienceQuestion`.
public enum AudienceResult: Sendable {
    /// Devices that are all told the same.
    case devices(AddressedPage)
    /// The devices of subscribers, with the badges of subscriptions that count them.
    case subscribers(SubscriberPage, badges: [ByteText: Int])
    /// More devices than one worker should serve, so they are served in chunks: some of them, and the fan-out of a
    /// redelivered event, if it has one.
    case large(firstDevices: [Recipient], known: FanOut?)
    /// A chunk that is not to be served any more.
    case chunkOver(FanOutChunkState)
    /// Some of the events have been pushed before: these. The others are to be asked for again.
    case repeated([RememberedEvent])
    /// More devices than the batch has room for beside those of the questions before; to be asked again.
    case later

    /// Whether the question is to be asked again.
    var isLater: Bool {
        if case .later = self { true } else { false }
    }

    /// How many devices there are on the page.
    var deviceCount: Int {
        switch self {
        case .devices(let addressed): addressed.page.devices.count
        case .subscribers(let page, _): page.entries.count
        case .large, .chunkOver, .repeated, .later: 0
        }
    }
}

/// A page of an audience, each device with the token that the event's push goes to.
public struct AddressedPage: Sendable {
    /// The devices that have such a token, and where the next page begins.
    public var page: AudiencePage
    /// How many devices or tokens are left out, because the push could not be for them.
    public var leftOutCount = 0
    /// Why the event cannot be acted on, if nothing of its whole audience has such a token.
    public var rejection: EventRejection?

    /// Creates a page of devices that are as they were found.
    public init(_ page: AudiencePage) { self.page = page }

    /// Gives each device the token at its index in a list, and leaves out those that get none.
    public mutating func address(_ token: (Recipient) -> Recipient?) {
        let found = page.devices
        page.devices = found.compactMap(token)
        leftOutCount += found.count - page.devices.count
    }
}
