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
    /// Which queues are not counted, because this user may not look at them; nil if all are.
    public var refusal: String?
}

/// The queues of a namespace with their counts.
public struct QueueCounts: Hashable, Sendable {
    /// The queues: those of work, retries by their delays, fan-outs, dead letters.
    public var queues: [QueueCount] = []
    /// Which queues are left out, because this user may not look at them, and what to do; nil if none is.
    public var refusal: String?
}

/// One queue with its counts.
public struct QueueCount: Hashable, Sendable {
    /// The purpose of a queue.
    public enum Purpose: Hashable, Sendable {
        /// Events of backends.
        case work
        /// Chunks of large fan-outs.
        case fanOut
        /// Events that wait for their next attempt.
        case retry(delayMilliseconds: Int64)
        /// Messages that need a person.
        case deadLetter
    }

    /// The name.
    public var name: String
    /// The purpose.
    public var purpose: Purpose
    /// How many messages are ready.
    public var messageCount = 0
    /// How many consumers there are.
    public var consumerCount = 0
}

/// Reads the depths again and again, on a connection and a loop of its own.
public final class QueueDepthReader: Sendable {
    private let loop: EventLoop
    private let session: LoopBound<AMQPSession>
    private let queues: [QueueCount]

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
                    loop: loop, session: session,
                    queues: broker.queues(retryDelaysMilliseconds: retryDelaysMilliseconds))
            } catch {
                loop.stopAndJoin()
                throw error
            }
        } catch let error as AMQPError {
            throw ChangeQueueError(error)
        } catch { throw ChangeQueueError(.unavailable, "\(error)") }
    }

    private init(loop: EventLoop, session: LoopBound<AMQPSession>, queues: [QueueCount]) {
        self.loop = loop
        self.session = session
        self.queues = queues
    }

    /// Reads the depths now.
    ///
    /// - Returns: the depths.
    /// - Throws: `ChangeQueueError` if a queue is missing or the connection has ended; then no reading succeeds again.
    public func read() async throws(ChangeQueueError) -> QueueDepths {
        let counts = try await readEach()
        var depths = QueueDepths(refusal: counts.refusal)
        for queue in counts.queues {
            switch queue.purpose {
            case .work:
                if queue.name == queues.first?.name { depths.consumers = queue.consumerCount }
                depths.work += queue.messageCount
            case .fanOut: depths.fanOut += queue.messageCount
            case .retry: depths.retry += queue.messageCount
            case .deadLetter: depths.deadLetters += queue.messageCount
            }
        }
        return depths
    }

    /// Reads the counts of each queue now.
    ///
    /// - Returns: the queues with their counts, without those that this user may not look at.
    /// - Throws: as `read`.
    public func readEach() async throws(ChangeQueueError) -> QueueCounts {
        do {
            return try await loop.run { [self] in try queues.counts(session.value) }
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

extension [QueueCount] {
    fileprivate func counts(_ session: AMQPSession) throws(AMQPError) -> QueueCounts {
        var counts = QueueCounts()
        var refused: [String] = []
        for var queue in self {
            do throws(AMQPError) {
                let status = try session.declareQueue(queue.name, isPassive: true)
                queue.messageCount = status.messageCount
                queue.consumerCount = status.consumerCount
                counts.queues.append(queue)
            } catch  where error.code == .refused && !session.isClosed { refused.append(queue.name) }
        }
        if !refused.isEmpty {
            counts.refusal =
                "the user \(session.endpoint.user) may not look at \(refused.joined(separator: ", ")); "
                + (BrokerIdentity(session.server).asksToConfigureForLooking
                    ? "this version asks for `configure`; update to 4.2.7 or 4.3.1, or permit it"
                    : "`apus topology permissions` prints what permits it")
        }
        return counts
    }
}

extension BrokerConfiguration {
    /// The queues of the namespace without counts; those of work come first, in their order.
    fileprivate func queues(retryDelaysMilliseconds: [Int64]) -> [QueueCount] {
        (1...workQueueCount).map { QueueCount(name: names.work($0), purpose: .work) }
            + retryDelaysMilliseconds.map { delay in
                QueueCount(
                    name: names.retry(delayMilliseconds: delay), purpose: .retry(delayMilliseconds: delay))
            }
            + [
                QueueCount(name: names.fanout, purpose: .fanOut),
                QueueCount(name: names.deadLetter, purpose: .deadLetter),
            ]
    }

    /// Returns statistics of queues from RabbitMQ's management API, beyond their counts and some seconds old.
    ///
    /// - Parameter queues: their names.
    /// - Returns: the statistics by name, without queues of which the API knows nothing; nil if no API is configured.
    /// - Throws: `ChangeQueueError` if the API does not answer.
    public func queueStatistics(of queues: [String]) async throws(ChangeQueueError) -> [String: QueueStatistics]? {
        guard let api = ManagementAPI(self) else { return nil }
        return try await api.statistics(of: queues)
    }
}

/// The statistics of a queue that only RabbitMQ's management API has.
public struct QueueStatistics: Hashable, Sendable {
    /// How many messages consumers have and have not acknowledged.
    public var unacknowledgedCount: Int
    /// When the oldest message was published, in seconds since 1970; nil if the queue does not say, as quorum queues.
    public var oldestTimestampSeconds: Int64?
}
