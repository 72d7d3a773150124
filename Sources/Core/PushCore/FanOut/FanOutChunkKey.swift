/// What tells a chunk from all others.
public struct FanOutChunkKey: Hashable, Sendable {
    /// The fan-out, by its number.
    public var fanOut: Int64
    /// The event that the fan-out is of: a registry that was made anew gives the same numbers to other events.
    public var event: EventDigest
    /// The chunk, by its number.
    public var chunk: Int

    /// Names a chunk.
    public init(fanOut: Int64, event: EventDigest, chunk: Int) {
        self.fanOut = fanOut
        self.event = event
        self.chunk = chunk
    }
}
