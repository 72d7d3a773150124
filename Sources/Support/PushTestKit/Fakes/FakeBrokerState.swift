public import PushCore

/// What a broker in memory holds at one moment.
public struct FakeBrokerState: Sendable {
    var deliveryHandler: (any DeliveryHandler)?
    var publishHandler: (any PublishHandler)?
    /// Published while nobody consumed.
    var early: [Delivery] = []
    var unacknowledged: [DeliveryTag: Delivery] = [:]
    var parkedByQueue: [String: [Message]] = [:]
    var missingQueues: Set<String> = []
    var rejectingQueues: Set<String> = []
    var nextTag: UInt64 = 1
    var epoch: UInt32 = 1

    /// The acknowledged tags, in order.
    public internal(set) var settledTags: [DeliveryTag] = []

    /// The messages that were rejected, in order.
    public internal(set) var rejectedMessages: [Message] = []

    /// Whether the consumer has paused.
    public internal(set) var isPaused = false

    /// How often the consumer has paused.
    public internal(set) var pauseCount = 0

    /// Whether anyone consumes.
    public var isConsuming: Bool { deliveryHandler != nil }

    /// How many messages wait because nobody consumes.
    public var backlogCount: Int { early.count }

    /// How many deliveries have not been acknowledged.
    public var unacknowledgedCount: Int { unacknowledged.count }

    /// The messages that are parked in a queue.
    public func parked(in queue: String) -> [Message] { parkedByQueue[queue] ?? [] }
}
