import AMQP
import PushCore

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
    /// Why the user may not read the queue; it is not tried before a look has shown the opposite.
    var refusal: AMQPError?
    private var epoch: UInt32 = 0
    /// When each delivery came that is not settled.
    private var held: [UInt64: UInt64] = [:]
    private var completion: ((Bool) -> Void)?
    private var isInterruptionSaid = false

    init(queue: OutcomeQueues.Queue) { self.queue = queue }

    /// How its deliveries are marked.
    func tag(_ index: Int) -> String { "\(index)" }

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
    /// - Parameter refusal: why the user may not read it; nil for another reason.
    /// - Returns: whether that is news.
    mutating func interrupted(_ refusal: AMQPError?) -> Bool {
        self.refusal = refusal
        held = [:]
        if state != .closed { state = .interrupted }
        defer { isInterruptionSaid = true }
        return !isInterruptionSaid
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
