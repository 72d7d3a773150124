/// A chunk as its message names it.
public struct FanOutChunkJob: Hashable, Sendable {
    /// The number of its fan-out; the audience is as it was when that began.
    public var fanOut: Int64
    /// What is to be served.
    public var chunk: FanOutChunk

    /// Names a chunk.
    public init(fanOut: Int64, chunk: FanOutChunk) {
        self.fanOut = fanOut
        self.chunk = chunk
    }
}
