import PushCore

/// How far this worker is with a chunk of a large fan-out.
struct ChunkProgress {
    let key: FanOutChunkKey
    /// Where the next page begins.
    var cursor: AudienceCursor?
    /// How many pages have begun and not ended.
    var pagesOut = 0
    /// Whether no page is left to begin.
    var isRead = false
    /// Whether its fan-out was cancelled before all pages had begun.
    var isCancelled = false

    /// Whether the chunk has ended.
    var isOver: Bool { isRead && pagesOut == 0 }
}
