import PushCore

/// What an `InMemoryRegistry` knows of large fan-outs.
struct InMemoryFanOuts {
    struct Chunk {
        var chunk: FanOutChunk
        var isEnded = false
    }

    var list: [FanOut] = []
    var lastNumber: Int64 = 0
    var plannedUntil: [Int64: Int64] = [:]
    var chunks: [Int64: [Chunk]] = [:]
    /// The whole registry as it was when each fan-out began.
    var befores: [Int64: InMemoryRegistry] = [:]
}
