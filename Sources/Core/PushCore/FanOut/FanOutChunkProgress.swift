import Essentials

/// The progress of a chunk of a large fan-out that this worker has begun and that has not ended.
struct FanOutChunkProgress: Sendable {
    /// The chunk.
    let key: FanOutChunkKey
    /// The flow that it belongs to.
    let flow: FanOutFlow
    /// The number of chunks that this worker had begun before.
    let order: UInt64
    /// The position before the next page.
    private(set) var cursor: AudienceCursor?
    /// The number of pages that have begun.
    private(set) var pagesBegun = 0
    /// The number of pages that have begun and not ended.
    private(set) var pagesOut = 0
    /// The start of the time in which at least one page was always out; has a meaning while `pagesOut` is not 0.
    private(set) var outSince = MonotonicTime(nanoseconds: 0)
    /// Whether no further page is to begin.
    private(set) var isRead = false
    /// Whether its fan-out was cancelled before all its pages had begun.
    private(set) var isCancelled = false
    /// Whether a page could not be rendered, so that the chunk has become a dead letter.
    private(set) var isDeadLetter = false
    /// The reason why the broker takes no copy of something of the chunk, now or later; nil if there is none.
    var refusal: String?

    /// Describes a chunk of which no page has begun.
    init(_ delivery: FanOutDelivery, key: FanOutChunkKey, order: UInt64) {
        self.key = key
        flow = delivery.flow
        self.order = order
        cursor = delivery.cursor
    }

    /// Whether the chunk has ended.
    var hasEnded: Bool { isRead && pagesOut == 0 }

    /// A page begins.
    ///
    /// - Parameters:
    ///   - next: the position after it; nil if it is the last page.
    ///   - now: the time.
    mutating func pageBegins(next: AudienceCursor?, at now: MonotonicTime) {
        goOut(at: now)
        pagesBegun += 1
        if let next { cursor = next } else { isRead = true }
    }

    /// A dead letter goes out in place of the next page.
    mutating func deadLetterGoesOut(at now: MonotonicTime) {
        goOut(at: now)
        isRead = true
        isDeadLetter = true
    }

    /// No further page is to be served.
    mutating func stops(isCancelled: Bool) {
        isRead = true
        self.isCancelled = isCancelled
    }

    /// All pushes of a page have ended, or its dead letter is with the broker.
    mutating func pageEnded() {
        assert(pagesOut > 0, "a page ended that had not begun")
        pagesOut -= 1
    }

    private mutating func goOut(at now: MonotonicTime) {
        if pagesOut == 0 { outSince = now }
        pagesOut += 1
    }
}
