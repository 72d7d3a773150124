import AMQP
import Glibc

extension AMQPSession {
    /// The counts of a queue, or nil if it does not exist.
    func queueStatus(_ name: String) throws(AMQPError) -> QueueStatus? {
        do throws(AMQPError) {
            return try declareQueue(name, isPassive: true)
        } catch  where error.code == .missing { return nil }
    }

    /// The work queues beyond a number of them; there are no gaps, because the highest is deleted first.
    ///
    /// - Parameters:
    ///   - names: the namespace.
    ///   - count: how many there are to be.
    /// - Returns: the numbers of the surplus queues, ascending, with their counts.
    /// - Throws: `AMQPError`, but not for a queue that is missing, or that this user may not see.
    func surplusWorkQueues(
        _ names: QueueNames, beyond count: Int
    ) throws(AMQPError) -> [(number: Int, status: QueueStatus)] {
        var found: [(number: Int, status: QueueStatus)] = []
        for number in count..<QueueNames.workQueuesMaximum {
            do throws(AMQPError) {
                guard let status = try queueStatus(names.work(number + 1)) else { break }
                found.append((number + 1, status))
            } catch  where error.code == .refused { break }
        }
        return found
    }
}

/// Whether a queue that says that it is empty and unused is so.
extension AMQPSession {
    /// How long the queue may take to count a consumer of ours, in milliseconds.
    private static let countMillisecondsMaximum = 3_000
    private static let pauseMilliseconds: UInt32 = 50

    /// Proves that a quorum queue has no message, neither ready nor unacknowledged, and no consumer.
    ///
    /// A passive declare alone proves nothing. RabbitMQ also answers 0 messages and 0 consumers while the leader of the
    /// queue is silent for 250 ms (`rabbit_quorum_queue:stat/2`, 3.10.8 to 4.3.5). So the queue has to count consumers
    /// of ours, which needs the agreement of a majority of its nodes:
    ///
    /// 1. One consumer, and no message ready: no other consumer holds a message, because a holder counts as a consumer
    ///    until it settles the message. A remaining message can only be on its way to our consumer.
    /// 2. A second consumer, which has to be counted as well; then the first is cancelled. A consumer with an
    ///    unacknowledged message is still counted. So if one is left it is the second, and the queue was empty when it
    ///    came.
    ///
    /// Afterwards use the session only to delete the queue: closing the session requeues messages that a consumer did
    /// get.
    ///
    /// - Parameter queue: a quorum queue to which nothing leads any more.
    /// - Returns: whether it is empty and unused; false also where the queue did not say.
    /// - Throws: `AMQPError` if the queue is not there, has no leader, or the connection's end.
    func provesEmpty(_ queue: String) throws(AMQPError) -> Bool {
        try setPrefetch(1)
        try consume(queue, tag: "proof-1")
        guard try counts(1, consumersOf: queue) else { return false }
        try consume(queue, tag: "proof-2")
        guard try counts(2, consumersOf: queue) else { return false }
        try endConsumer(tag: "proof-1")
        return try counts(1, consumersOf: queue)
    }

    private func counts(_ consumerCount: Int, consumersOf queue: String) throws(AMQPError) -> Bool {
        for _ in 0..<Self.countMillisecondsMaximum / Int(Self.pauseMilliseconds) {
            let status = try declareQueue(queue, isPassive: true)
            guard status.messageCount == 0 else { return false }
            guard status.consumerCount != consumerCount else { return true }
            usleep(Self.pauseMilliseconds * 1_000)
        }
        return false
    }
}
