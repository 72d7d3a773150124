public import ChangeEvents

/// A request to the registry of large fan-outs: plans, publishes, and the ends of chunks.
public enum FanOutRequest: Hashable, Sendable {
    /// The answer to a `FanOutRequest`.
    public enum Answer: Hashable, Sendable {
        /// The present fan-out: answers `begin`, `plan` and `published`.
        case fanOut(FanOut)
        /// Chunks that may not have been published: answers `read`.
        case chunks([FanOutChunk])
        /// The registry keeps it: answers `ended`.
        case done
    }

    /// Find or begin the fan-out of an event.
    case begin(FanOutEvent, planner: Int64)
    /// Keep the next chunks of a fan-out, given by its number.
    case plan([FanOutChunk], of: Int64, planner: Int64)
    /// Read chunks of a fan-out behind the chunk of a number.
    case read(of: Int64, after: Int, limit: Int)
    /// Keep that the broker has confirmed the chunks of a fan-out up to the chunk of a number.
    case published(through: Int, of: Int64, planner: Int64)
    /// Keep that chunks have ended.
    case ended([FanOutChunkEnding])

    /// Performs the request.
    ///
    /// - Parameters:
    ///   - registry: the registry, on the thread that owns it.
    ///   - now: the wall clock, in milliseconds since 1970.
    /// - Returns: the answer of the kind that the case names.
    /// - Throws: `RegistryError` as the registry does.
    public func perform(on registry: any FanOutRegistry, nowMilliseconds now: Int64) throws(RegistryError) -> Answer {
        switch self {
        case .begin(let event, let planner):
            return .fanOut(try registry.beginFanOut(event, planner: planner, nowMilliseconds: now))
        case .plan(let chunks, let number, let planner):
            return .fanOut(try registry.planChunks(chunks, of: number, planner: planner, nowMilliseconds: now))
        case .read(let number, let after, let limit):
            return .chunks(try registry.chunks(of: number, after: after, limit: limit))
        case .published(let through, let number, let planner):
            return .fanOut(
                try registry.chunksPublished(through: through, of: number, planner: planner, nowMilliseconds: now))
        case .ended(let endings):
            try registry.chunksEnded(endings, nowMilliseconds: now)
            return .done
        }
    }
}

/// The audience of a large fan-out, as it is searched chunk by chunk.
public enum FanOutAudience: Hashable, Sendable {
    /// The devices of an audience.
    case devices(Audience)
    /// The subscribers of a record's change, whose subscriptions have to be matched first.
    ///
    /// `mayHaveClaims` says whether the event may have claimed subscriptions that fire once, which have left the index
    /// since: it was delivered or asked for before.
    case record(RecordChange, mayHaveClaims: Bool)
    /// The devices of subscriptions by their rows, in ascending order.
    case subscriptions([Int64])
}

/// A question to the registry: the end of the next chunk of a large audience.
public struct FanOutChunkSearch: Hashable, Sendable {
    /// The number of the fan-out.
    var fanOut: Int64
    /// The event.
    public var event: EventDigest
    /// The audience.
    public var audience: FanOutAudience
    /// The row of the newest subscription that is served.
    var newestSubscription: Int64
    /// The device to leave out of an audience of subscribers.
    var excludedDeviceID: String?
    /// The position before the chunk; nil for the start of the audience.
    public var after: AudienceCursor?
    /// The most devices of the chunk.
    public var limit: Int

    /// Asks for the end of a chunk.
    public init(
        fanOut: Int64, event: EventDigest, audience: FanOutAudience, newestSubscription: Int64,
        excludedDeviceID: String?, after: AudienceCursor?, limit: Int
    ) {
        self.fanOut = fanOut
        self.event = event
        self.audience = audience
        self.newestSubscription = newestSubscription
        self.excludedDeviceID = excludedDeviceID
        self.after = after
        self.limit = limit
    }

    /// The question for the subscribers, given the rows of all subscriptions that match, in ascending order.
    ///
    /// Subscriptions that are newer than the fan-out are left out. `limit` is the limit of its page.
    public func subscriberRequest(matching rows: [Int64]) -> SubscriberRequest {
        SubscriberRequest(
            subscriptions: rows.filter { $0 <= newestSubscription }, excludedDeviceID: excludedDeviceID,
            cursor: after, asOfFanOut: fanOut)
    }
}

/// The answer to a `FanOutChunkSearch`.
public struct FanOutChunkExtent: Hashable, Sendable {
    /// The last position of the chunk; nil if it is the last chunk.
    public var through: AudienceCursor?
    /// The number of its devices.
    public var deviceCount: Int
    /// The subscriptions that the chunk names, in ascending order; empty for an audience of devices.
    public var subscriptions: [Int64] = []
    /// The rows of all subscriptions that match a record's change, which stay the same for the whole plan; nil for an
    /// audience of devices.
    public var matching: [Int64]?

    /// Describes a chunk of devices.
    public init(_ extent: AudienceExtent) {
        through = extent.next
        deviceCount = extent.deviceCount
    }

    /// Describes a chunk of subscribers.
    ///
    /// - Parameters:
    ///   - page: the answer to `FanOutChunkSearch.subscriberRequest`.
    ///   - rows: the rows that were given to that.
    public init(_ page: SubscriberPage, matching rows: [Int64]) {
        through = page.next
        deviceCount = page.entries.count
        subscriptions = FanOutChunk.subscriptions(of: page)
        matching = rows
    }
}
