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
