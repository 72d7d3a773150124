/// A chunk that has ended, and how.
public struct FanOutChunkEnding: Hashable, Sendable {
    /// The chunk.
    public var key: FanOutChunkKey
    /// Whether the rest of it was not served, because its fan-out was cancelled.
    public var isCancelled: Bool

    /// Says how a chunk ended.
    public init(_ key: FanOutChunkKey, isCancelled: Bool) {
        self.key = key
        self.isCancelled = isCancelled
    }
}
