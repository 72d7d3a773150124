import Essentials
import PushCore

/// How far this worker is with a chunk of a large fan-out.
struct ChunkProgress {
    let key: FanOutChunkKey
    /// The event, which is read once and not for each page.
    let item: PreparedEvent
    /// What it takes turns as with other chunks.
    let flow: String
    /// Tells which chunks this worker began before.
    let place: UInt64
    /// What it says to the apps that the pages so far had devices of; empty for a record, whose subscriptions say it.
    var renderings: [AppRendering] = []
    /// Where the next page begins.
    var cursor: AudienceCursor?
    /// How many pages have begun.
    var pagesBegun = 0
    /// How many pages have begun and not ended.
    var pagesOut = 0
    /// Since when some page has been out at any time.
    private(set) var outSince = MonotonicTime(nanoseconds: 0)
    /// Whether no page is left to begin.
    var isRead = false
    /// Whether its fan-out was cancelled before all pages had begun.
    var isCancelled = false
    /// Whether a page could not be rendered, so that the chunk has become a dead letter and is not written down.
    var isRejected = false
    /// Why the broker has to dead-letter the chunk, because it takes no copy of it; nil if it need not.
    var rejection: String?

    /// Whether the chunk has ended.
    var isOver: Bool { isRead && pagesOut == 0 }

    /// A page begins, or what is to be done instead.
    mutating func pageGoesOut(at now: MonotonicTime) {
        if pagesOut == 0 { outSince = now }
        pagesOut += 1
    }
}
