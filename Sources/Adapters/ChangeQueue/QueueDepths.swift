import AMQP
import EventLoop

/// How many messages wait in the queues of a namespace.
public struct QueueDepths: Hashable, Sendable {
    /// Events in the work queues.
    public var work = 0
    /// Chunks of large fan-outs.
    public var fanOut = 0
    /// Events in the retry queues.
    public var retry = 0
    /// Dead letters that no command has collected.
    public var deadLetters = 0
    /// Consumers of the first work queue.
    public var consumers = 0
}

/// Reads the depths again and again, on a connection and a loop of its own.
public final class QueueDepthReader: Sendable {
    private let loop: EventLoop
    private let session: LoopBound<AMQPSession>
    private let names: QueueNames
    private let workQueueCount: Int
    private let retryQueues: [String]

    /// Connects.
    ///
    /// - Parameters:
    ///   - broker: where the broker is.
    ///   - retryDelaysMilliseconds: the delays of the retry queues.
    /// - Returns: a reader.
    /// - Throws: `ChangeQueueError` if no node answers, or there is no thread.
    public static func connect(
        _ broker: BrokerConfiguration, retryDelaysMilliseconds: [Int64]
    ) async throws(ChangeQueueError) -> QueueDepthReader {
        do {
            let loop = try EventLoop(name: "queue-depths")
            do {
                let session = try await loop.run { LoopBound(try broker.open(purpose: "depths"), to: loop) }
                return QueueDepthReader(
                    loop: loop, session: session, broker: broker,
                    retryQueues: retryDelaysMilliseconds.map { broker.names.retry(delayMilliseconds: $0) })
            } catch {
                loop.stopAndJoin()
                throw error
            }
        } catch let error as AMQPError {
            throw ChangeQueueError(error)
        } catch { throw ChangeQueueError(.unavailable, "\(error)") }
    }

    private init(
        loop: EventLoop, session: LoopBound<AMQPSession>, broker: BrokerConfiguration, retryQueues: [String]
    ) {
        self.loop = loop
        self.session = session
        names = broker.names
        workQueueCount = broker.workQueueCount
        self.retryQueues = retryQueues
    }

    /// Reads the depths now.
    ///
    /// - Returns: the depths.
    /// - Throws: `ChangeQueueError` if a queue is missing or the connection has ended; then no reading succeeds again.
    public func read() async throws(ChangeQueueError) -> QueueDepths {
        do {
            return try await loop.run { [self] in
                let session = session.value
                var depths = QueueDepths()
                for number in 1...workQueueCount {
                    let status = try session.declareQueue(names.work(number), isPassive: true)
                    depths.work += status.messageCount
                    if number == 1 { depths.consumers = status.consumerCount }
                }
                depths.fanOut = try session.declareQueue(names.fanout, isPassive: true).messageCount
                for queue in retryQueues {
                    depths.retry += try session.declareQueue(queue, isPassive: true).messageCount
                }
                depths.deadLetters = try session.declareQueue(names.deadLetter, isPassive: true).messageCount
                return depths
            }
        } catch let error as AMQPError {
            throw ChangeQueueError(error)
        } catch { throw ChangeQueueError(.unavailable, "\(error)") }
    }

    /// Closes the connection and ends the loop.
    public func close() async {
        _ = try? await loop.run { [session] in session.value.close() }
        loop.stopAndJoin()
    }
}
