/// What is known of a chunk before it is served.
public enum FanOutChunkState: Hashable, Sendable {
    /// It is to be served.
    case waiting
    /// It has been served: this is another copy of it.
    case served
    /// It is not to be served.
    case cancelled
}
