public import ChangeEvents
public import EventLoop
public import Metrics
public import StructuredLogging

/// Consumes outcomes from one queue or several, over one connection and on one loop.
///
/// Each queue has a prefetch of its own. A queue that is missing, or that the user may not read, is interrupted alone.
/// Deliveries that are unsettled for too long go back to their queue. The consumer reconnects forever.
public final class OutcomeConsumer: OutcomeSource {
    /// One of the queues.
    public struct Queue: Hashable, Sendable {
        /// Its name; a temporary queue has another on each connection.
        var name: String
        /// The most deliveries of it that may be unacknowledged.
        let prefetch: UInt16
        /// The patterns of routing keys that select the content of a temporary queue; nil for a durable queue.
        let patterns: [String]?

        /// A queue that exists.
        public static func durable(name: String, prefetch: UInt16) -> Queue {
            Queue(name: name, prefetch: prefetch, patterns: nil)
        }

        /// A queue that exists while the connection lives, with the outcomes that the patterns of routing keys select.
        ///
        /// It keeps the newest outcomes if its reader is slow. Outcomes that were published while there was no
        /// connection are missing.
        public static func temporary(patterns: [String], prefetch: UInt16) -> Queue {
            Queue(name: "", prefetch: prefetch, patterns: patterns)
        }
    }

    private let core: LoopBound<OutcomeConsumerCore>

    /// Creates a consumer, which connects when it is started.
    ///
    /// - Parameters:
    ///   - queues: the queues to consume.
    ///   - configuration: where the broker is.
    ///   - connection: the name of the connection in logs, in metrics and in the broker's own tools.
    ///   - logger: logs the events of the connection.
    ///   - metrics: where to count.
    /// - Throws: `EventLoopError` if there is no thread.
    public init(
        _ queues: [Queue], configuration: BrokerConfiguration, connection: String, logger: Logger,
        metrics: MetricsRegistry
    ) throws(EventLoopError) {
        let loop = try EventLoop(name: "amqp-outcomes")
        core = LoopBound(
            OutcomeConsumerCore(
                queues, configuration: configuration, name: connection, loop: loop, logger: logger,
                metrics: ConnectionMetrics(metrics, connection: connection)), to: loop)
    }

    /// Connects, and goes on connecting for as long as it takes; `take` runs on the consumer's thread.
    public func start(_ take: @escaping @Sendable (OutcomeSourceEvent) -> Void) {
        core.loop.submit { [core] in core.value.start(take) }
    }

    /// Acknowledges outcomes, in any order; tags of an earlier consumption of the queue are ignored.
    public func settle(_ tags: [DeliveryTag], of queue: Int) {
        core.loop.submit { [core] in core.value.settle(tags, of: queue) }
    }

    /// Ends the consumption of a queue; its unsettled outcomes go back to it.
    public func stopConsuming(_ queue: Int) {
        core.loop.submit { [core] in core.value.stopConsuming(queue) }
    }

    /// Ends the consumption of all queues, the connection and the loop; the consumer cannot be used again.
    public func close() async {
        await withCheckedContinuation { continuation in
            core.loop.submit { [core] in core.value.close { continuation.resume() } }
        }
        core.loop.stopAndJoin()
    }
}
