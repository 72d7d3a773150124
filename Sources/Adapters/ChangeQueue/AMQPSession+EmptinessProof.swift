import AMQP
import Glibc

/// Whether a queue that says that it is empty and unused is so.
extension AMQPSession {
    /// How long the queue may take to count a consumer of ours, in milliseconds.
    private static let countMillisecondsMaximum = 3_000
    private static let pauseMilliseconds: UInt32 = 50

    /// Proves that a quorum queue holds no message, neither ready nor unacknowledged, and has no consumer.
    ///
    /// A passive declare alone proves nothing: RabbitMQ answers no messages and no consumers, too, where the leader of
    /// the queue is silent for 250 ms (`rabbit_quorum_queue:stat/2`, 3.10.8 to 4.3.5). So the queue has to count
    /// consumers of ours, for which a majority of its nodes has to agree, and which no silent leader knows of:
    ///
    /// 1. One consumer, and no message ready: no other consumer holds a message, because a holder counts as a consumer
    ///    until it settles the message. A remaining message can only be on its way to our consumer.
    /// 2. A second consumer, which has to be counted as well; then the first is cancelled. One that holds a message
    ///    goes on to be counted, so if one is left it is the second, and it came when there was nothing to hold.
    ///
    /// The session is to be used for nothing but deleting the queue afterwards: what a consumer did get goes back when
    /// the session is closed.
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
