import Essentials

/// The chunks that have ended and whose endings the registry does not keep yet; their deliveries are not settled.
///
/// One request is under way at a time. Endings that come meanwhile go together into the next one.
struct FanOutEndings: Sendable {
    private var waiting: [(tag: DeliveryTag, ending: FanOutChunkEnding)] = []
    /// The number of endings, the first of `waiting`, that the request under way records; 0 if none is under way.
    private var askedCount = 0
    /// The time before which the registry is not asked again; nil if it answered the last request.
    private(set) var askAgainAt: MonotonicTime?

    /// Whether nothing is to be recorded.
    var isEmpty: Bool { waiting.isEmpty }

    /// A chunk has ended.
    mutating func append(_ tag: DeliveryTag, _ ending: FanOutChunkEnding) { waiting.append((tag, ending)) }

    /// Begins a request if one is due.
    ///
    /// - Returns: the endings to record; empty if there are none, or if this is not the time.
    mutating func begin(at now: MonotonicTime) -> [FanOutChunkEnding] {
        if let time = askAgainAt, time > now { return [] }
        guard askedCount == 0, !waiting.isEmpty else { return [] }
        askAgainAt = nil
        askedCount = waiting.count
        return waiting.map(\.ending)
    }

    /// The request has ended for good.
    ///
    /// - Returns: the chunks whose deliveries can be settled.
    mutating func finish() -> [(tag: DeliveryTag, ending: FanOutChunkEnding)] {
        assert(askedCount > 0, "an answer came to a request that was not made")
        let finished = Array(waiting.prefix(askedCount))
        waiting.removeFirst(finished.count)
        askedCount = 0
        return finished
    }

    /// The request has failed, and is made again.
    ///
    /// - Parameter time: when to make it again, together with what ends until then.
    mutating func repeatRequest(at time: MonotonicTime) {
        assert(askedCount > 0, "an answer came to a request that was not made")
        askedCount = 0
        askAgainAt = time
    }

    /// The number of endings that the request under way records.
    var countUnderWay: Int { askedCount }
}
