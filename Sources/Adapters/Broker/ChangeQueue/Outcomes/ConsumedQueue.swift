import AMQP
import ChangeEvents

/// One queue of an `OutcomeConsumerCore`: whether it is consumed, and which of its deliveries are not settled.
struct ConsumedQueue {
    enum State: Hashable {
        /// Not consumed: there is no connection yet, or the queue is missing or may not be read.
        ///
        /// Can transition to: `consuming` when its consumer is started; `closed`.
        case interrupted
        /// A consumer was started.
        ///
        /// Can transition to: `interrupted` when the broker ends it, or the connection ends; `restarting`; `ending`.
        case consuming
        /// The consumer was asked to end, so that its deliveries go back, and another one begins.
        ///
        /// Can transition to: `consuming`; `interrupted`; `closed`.
        case restarting
        /// The consumer was asked to end, and its deliveries have not gone back yet.
        ///
        /// Can transition to: `closed`.
        case ending
        /// Nothing is consumed any more, at our own wish.
        case closed
    }

    /// Its name; a temporary queue has another on each connection.
    var name: String
    let prefetch: UInt16
    /// The patterns of routing keys of a temporary queue; nil for a durable queue.
    let patterns: [String]?
    private(set) var state = State.interrupted
    /// Why the queue cannot be consumed; it is not tried before a probe has shown the opposite.
    var refusal: AMQPError?
    /// When it is probed again.
    private(set) var notBeforeNanoseconds: UInt64 = 0
    private var epoch: UInt32 = 0
    /// When each delivery came that is not settled.
    private var held: [UInt64: UInt64] = [:]
    private var isInterruptionSaid = false
    /// How often its consumer closed the connection of all since the last delivery.
    private var failuresCount = 0
    /// For how long it is left alone then: doubled each time, up to a quarter of an hour.
    private static let pauseNanoseconds: UInt64 = 60_000_000_000

    init(_ queue: OutcomeConsumer.Queue) {
        name = queue.name
        prefetch = queue.prefetch
        patterns = queue.patterns
    }

    /// Whether it is to be consumed.
    var isWanted: Bool { state != .ending && state != .closed }

    /// The tag of its consumer, which marks its deliveries.
    func tag(_ index: Int) -> String { "\(index).\(epoch)" }

    /// The tag of the consumer that is started next: the broker may still know those before it.
    func nextTag(_ index: Int) -> String { "\(index).\(epoch + 1)" }

    /// When the oldest delivery came that is not settled; nil without one.
    var heldSinceNanoseconds: UInt64? { held.values.min() }

    /// A consumer was started.
    ///
    /// - Returns: the epoch of what it brings.
    mutating func began() -> UInt32 {
        epoch += 1
        state = .consuming
        isInterruptionSaid = false
        return epoch
    }

    /// It is not consumed any more.
    ///
    /// - Parameters:
    ///   - refusal: why it cannot be consumed; nil if the reason is not the queue's.
    ///   - nowNanoseconds: the time.
    /// - Returns: whether that is news.
    mutating func interrupted(_ refusal: AMQPError?, nowNanoseconds: UInt64) -> Bool {
        self.refusal = refusal
        if let refusal, refusal.code != .refused {
            notBeforeNanoseconds = nowNanoseconds &+ Self.pauseNanoseconds << UInt64(min(failuresCount, 4))
            failuresCount += 1
        }
        held = [:]
        if isWanted { state = .interrupted }
        defer { isInterruptionSaid = true }
        return !isInterruptionSaid
    }

    /// The connection has ended, and with it all consumers.
    mutating func connectionLost() {
        held = [:]
        if isWanted { state = .interrupted }
    }

    /// Its consumer was asked to end, for another to begin.
    mutating func restarts() { state = .restarting }

    /// Its consumer was asked to end, at our own wish.
    mutating func ends() { state = .ending }

    /// It has no consumer any more, at our own wish.
    mutating func closed() { state = .closed }

    /// Whether the broker blames this durable queue for an error.
    func isNamed(in error: AMQPError) -> Bool { patterns == nil && error.message.contains("'\(name)'") }

    /// A delivery came.
    mutating func received(_ number: UInt64, nowNanoseconds: UInt64) -> DeliveryTag {
        failuresCount = 0
        held[number] = nowNanoseconds
        return DeliveryTag(epoch: epoch, number: number)
    }

    /// A delivery is settled.
    ///
    /// - Returns: the broker's number of it; nil if it went back meanwhile.
    mutating func settle(_ tag: DeliveryTag) -> UInt64? {
        tag.epoch == epoch && held.removeValue(forKey: tag.number) != nil ? tag.number : nil
    }

    /// The deliveries that are not settled; they do not count any more.
    mutating func takeHeld() -> [UInt64] {
        defer { held = [:] }
        return held.keys.sorted()
    }
}
