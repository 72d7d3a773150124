public import ChangeEvents
public import Messages

/// A part of a large audience that is served by itself: the devices after one position, up to another.
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
    static let subscriptionsMaximum = 12_000

    /// The subscriptions that a chunk of these subscribers names.
    ///
    /// - Parameter page: the subscribers of the chunk, as part of the whole audience.
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

extension FanOutChunk {
    /// The rows of the subscriptions as bytes, 8 for each, big endian: how registries store them.
    public var subscriptionBytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(subscriptions.count * 8)
        for row in subscriptions { withUnsafeBytes(of: row.bigEndian) { bytes.append(contentsOf: $0) } }
        return bytes
    }

    /// Reads what `subscriptionBytes` gave; bytes that are too few for a row are passed over.
    public static func subscriptions(fromBytes bytes: some Collection<UInt8>) -> [Int64] {
        var rows: [Int64] = []
        rows.reserveCapacity(bytes.count / 8)
        var row: Int64 = 0
        for (index, byte) in bytes.enumerated() {
            row = row << 8 | Int64(byte)
            if index % 8 == 7 {
                rows.append(row)
                row = 0
            }
        }
        return rows
    }
}

/// The identity of a chunk.
public struct FanOutChunkKey: Hashable, Sendable {
    /// The fan-out, by its number.
    public var fanOut: Int64
    /// The event of the fan-out, because a registry that was created again gives the same numbers to other events.
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

/// The stored state of a chunk before it is served.
public enum FanOutChunkState: Hashable, Sendable {
    /// It is to be served.
    case waiting
    /// It has been served: this is another copy of it.
    case served
    /// It is not to be served.
    case cancelled
}

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

/// A chunk as its message names it.
public struct FanOutChunkJob: Hashable, Sendable {
    /// The number of its fan-out; the audience is as it was when that began.
    public var fanOut: Int64
    /// The chunk to serve.
    public var chunk: FanOutChunk

    /// Names a chunk.
    public init(fanOut: Int64, chunk: FanOutChunk) {
        self.fanOut = fanOut
        self.chunk = chunk
    }
}

extension FanOutChunkJob {
    /// Reads a chunk from the headers of its message; nil if it is none.
    ///
    /// - Parameters:
    ///   - headers: the headers.
    ///   - after: where the chunk begins, which all requeued messages say in the same way.
    public init?(headers: [MessageHeader], after: AudienceCursor?) {
        func number(_ name: String) -> Int64? {
            for header in headers where header.name == name {
                if case .int64(let value) = header.value { return value }
            }
            return nil
        }
        guard let fanOut = number(RetryHeader.fanOut), let chunk = number(RetryHeader.chunk) else { return nil }
        var subscriptions: [Int64] = []
        for header in headers where header.name == RetryHeader.subscriptions {
            if case .bytes(let bytes) = header.value { subscriptions = FanOutChunk.subscriptions(fromBytes: bytes) }
        }
        let through = number(RetryHeader.through).map {
            AudienceCursor(position: $0, subscription: number(RetryHeader.throughSubscription) ?? 0)
        }
        self.init(
            fanOut: fanOut,
            chunk: FanOutChunk(
                number: FanOutRules.count(chunk), after: after, through: through, subscriptions: subscriptions,
                deviceCount: FanOutRules.count(number(RetryHeader.chunkDevices) ?? 0)))
    }

    /// The headers that say which chunk a message is, beside the cursor.
    public var headers: [MessageHeader] {
        var headers = [
            MessageHeader(RetryHeader.fanOut, .int64(fanOut)),
            MessageHeader(RetryHeader.chunk, .int64(Int64(chunk.number))),
            MessageHeader(RetryHeader.chunkDevices, .int64(Int64(chunk.deviceCount))),
        ]
        if let through = chunk.through {
            headers.append(MessageHeader(RetryHeader.through, .int64(through.position)))
            if through.subscription != 0 {
                headers.append(
                    MessageHeader(RetryHeader.throughSubscription, .int64(through.subscription)))
            }
        }
        if !chunk.subscriptions.isEmpty {
            headers.append(MessageHeader(RetryHeader.subscriptions, .bytes(chunk.subscriptionBytes)))
        }
        return headers
    }
}
