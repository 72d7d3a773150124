public import Essentials
public import Notifications

/// What the pipeline asks of the registry, on a loop of the registry's own.
public enum RegistryRequest: Sendable {
    /// Read the next subscriptions to records into the index.
    case readSubscriptions
    /// Find the devices of events, or of pages of them.
    case resolve([AudienceQuestion])
    /// Find where a chunk of a large audience ends.
    case findChunk(FanOutChunkSearch)
    /// Keep how far a large fan-out is.
    case fanOut(FanOutRequest)
    /// Remove dead tokens.
    case prune([DeadToken])

    /// Whether it is written to a disk, for which nothing that only reads is to wait.
    public var isWrite: Bool {
        switch self {
        case .readSubscriptions, .resolve, .findChunk: false
        case .fanOut, .prune: true
        }
    }
}

/// What the registry answers to a `RegistryRequest`.
public enum RegistryAnswer: Sendable {
    /// Subscriptions were read; and whether all of them are in the index now.
    case subscriptionsRead(areAll: Bool, SubscriptionIndexSize)
    /// The audiences, one for each question.
    case resolved([AudienceResult])
    /// The end of a chunk.
    case chunkFound(FanOutChunkExtent)
    /// How far the fan-out is.
    case fanOut(FanOutRequest.Answer)
    /// How many devices and tokens were removed.
    case pruned(Int)
}

/// How large the index of subscriptions to records is.
public struct SubscriptionIndexSize: Hashable, Sendable {
    /// How many subscriptions it has.
    public let subscriptionCount: Int
    /// How many different predicates they have.
    public let distinctPredicateCount: Int
    /// How much memory it takes, in bytes.
    public let memoryBytes: Int

    /// Describes an index.
    public init(subscriptionCount: Int, distinctPredicateCount: Int, memoryBytes: Int) {
        self.subscriptionCount = subscriptionCount
        self.distinctPredicateCount = distinctPredicateCount
        self.memoryBytes = memoryBytes
    }
}

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

    /// Gives each device the token of its place in a list, and leaves out those that get none.
    public mutating func address(_ token: (Recipient) -> Recipient?) {
        let found = page.devices
        page.devices = found.compactMap(token)
        leftOutCount += found.count - page.devices.count
    }
}
