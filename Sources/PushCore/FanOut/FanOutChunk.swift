/// A part of a large audience that is served by itself: what lies behind one position, up to another.
public struct FanOutChunk: Hashable, Sendable {
    /// Its place in the fan-out, from 1.
    public var number: Int
    /// Where the chunk before ended; nil for the first.
    public var after: AudienceCursor?
    /// Its last position; nil for the last chunk, which goes to the end.
    public var through: AudienceCursor?
    /// The subscriptions to records that have devices in it, in ascending order; empty if the audience is not one of
    /// subscriptions.
    public var subscriptions: [Int64]
    /// How many devices it had when it was found; some of them may be left out, because they made the change or joined
    /// after the fan-out began.
    public var deviceCount: Int

    /// Describes a chunk.
    public init(
        number: Int, after: AudienceCursor?, through: AudienceCursor?, subscriptions: [Int64] = [], deviceCount: Int
    ) {
        self.number = number
        self.after = after
        self.through = through
        self.subscriptions = subscriptions
        self.deviceCount = deviceCount
    }
}
