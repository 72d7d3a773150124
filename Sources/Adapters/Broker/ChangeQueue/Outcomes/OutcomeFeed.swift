import AMQP
import ChangeEvents

/// One queue of an `OutcomeQueuesCore`: whether it is consumed, and which of its deliveries are not settled.
struct OutcomeFeed {
    enum State: Hashable {
        /// Not consumed: there is no connection yet, or the queue is missing or may not be read.
        ///
        /// Can transition to: `consuming` when its consumer is started; `closed`.
        case interrupted
        /// A consumer was started.
        ///
        /// Can transition to: `interrupted` when the broker ends it, or the connection ends; `restarting`; `closed`.
        case consuming
        /// The consumer was asked to end, so that its deliveries go back, and another one begins.
        ///
        /// Can transition to: as from `consuming`.
        case restarting
        /// Nothing is consumed any more, at our own wish.
        case closed
    }

    let queue: OutcomeQueues.Queue
    var handler: (any DeliveryHandler)?
    private(set) var state = State.interrupted
    /// Why the queue cannot be consumed; it is not tried before a look has shown the opposite.
    var refusal: AMQPError?
    /// When it is looked at again.
    private(set) var notBeforeNanoseconds: UInt64 = 0
    private var epoch: UInt32 = 0
    /// When each delivery came that is not settled.
    private var held: [UInt64: UInt64] = [:]
    private var completion: ((Bool) -> Void)?
    private var isInterruptionSaid = false
    /// How often its consumer closed the connection of all since the last delivery.
    private var failuresCount = 0
    /// For how long it is left alone then: doubled each time, up to a quarter of an hour.
    private static let pauseNanoseconds: UInt64 = 60_000_000_000

    init(queue: OutcomeQueues.Queue) { self.queue = queue }

    /// The tag of its consumer, which marks its deliveries.
    func tag(_ index: Int) -> String { "\(index).\(epoch)" }

    /// The tag of the consumer that is started next: the broker may still know those before it.
    func nextTag(_ index: Int) -> String { "\(index).\(epoch + 1)" }

    /// Whether it is closed, and its deliveries have not gone back yet.
    var isEnding: Bool { completion != nil }

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
        if state != .closed { state = .interrupted }
        defer { isInterruptionSaid = true }
        return !isInterruptionSaid
    }

    /// The connection has ended, and with it all consumers.
    mutating func connectionLost() {
        held = [:]
        if state != .closed { state = .interrupted }
    }

    /// Its consumer was asked to end, for another to begin.
    mutating func restarts() { state = .restarting }

    /// It is consumed no more, at our own wish; a second wish is answered with the first.
    mutating func closed(_ completion: @escaping (Bool) -> Void) {
        state = .closed
        self.completion = completion
    }

    mutating func takeCompletion() -> ((Bool) -> Void)? {
        defer { completion = nil }
        return completion
    }

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
