/// A part of a large audience that is served by itself: what lies behind one position, up to another.
public struct FanOutChunk: Hashable, Sendable {
    /// Its place in the fan-out, from 1.
    public var number: Int
    /// Where the chunk before ended; nil for the first.
    public var after: AudienceCursor?
    /// Its last position; nil for the last chunk, which goes to the end.
    public var through: AudienceCursor?
    /// The subscriptions to records that have devices in it, and those of other chunks whose silent pushes cover some
    /// of these devices, in ascending order; empty if the audience is not one of subscriptions.
    public var subscriptions: [Int64]
    /// How many devices it had when it was found; some of them may be left out, because they made the change or joined
    /// after the fan-out began.
    public var deviceCount: Int

    /// The most subscriptions that a chunk names: the headers of its message have to fit into one frame of AMQP.
    public static let subscriptionsMaximum = 12_000

    /// The subscriptions that a chunk of these subscribers names.
    ///
    /// - Parameter page: what was found of the chunk, as part of the whole audience.
    /// - Returns: the rows, in ascending order. A subscription that only covers devices is left out if there are too
    ///   many; then such a device may get two silent pushes.
    public static func subscriptions(of page: SubscriberPage) -> [Int64] {
        let own = Set(page.subscriptions.map(\.row))
        let covering = Set(page.entries.compactMap(\.coveredBy)).subtracting(own).sorted()
        return (own + covering.prefix(max(0, subscriptionsMaximum - own.count))).sorted()
    }

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
