public import ChangeEvents
public import EventLoop
public import Metrics
public import StructuredLogging

/// Which queue outcomes are consumed from.
public enum OutcomeQueue: Hashable, Sendable {
    /// A queue that exists while the connection lives, with what the patterns of routing keys select.
    ///
    /// It keeps the newest outcomes if its reader is slow, and what was published while there was no connection is
    /// missing.
    case temporary(patterns: [String])
    /// A queue that exists.
    case durable(name: String)
}

/// Consumes outcomes, on a loop and a connection of its own.
///
/// It reconnects forever. Unacknowledged deliveries of a durable queue come again under a new epoch, and tags of the
/// old epoch are ignored.
public final class OutcomeConsumer: MessageSource {
    private let loop: EventLoop
    private let core: LoopBound<OutcomeConsumerCore>

    /// Creates a consumer, which connects when it is started.
    ///
    /// - Parameters:
    ///   - configuration: where the broker is; its prefetch bounds the unacknowledged outcomes.
    ///   - queue: the queue to consume.
    ///   - connection: the name of the connection in logs, in metrics and in the broker's own tools.
    ///   - logger: logs the events of the connection.
    ///   - metrics: where to count.
    /// - Throws: `EventLoopError` if there is no thread.
    public init(
        configuration: BrokerConfiguration, queue: OutcomeQueue, connection: String = "outcomes", logger: Logger,
        metrics: MetricsRegistry
    ) throws(EventLoopError) {
        let loop = try EventLoop(name: "amqp-outcomes")
        self.loop = loop
        core = LoopBound(
            OutcomeConsumerCore(
                configuration: configuration, queue: queue, name: connection, loop: loop, logger: logger,
                metrics: ConnectionMetrics(metrics, connection: connection)), to: loop)
    }

    /// Connects, and goes on connecting for as long as it takes; outcomes go to the handler, on the consumer's thread.
    public func start(handler: any DeliveryHandler) {
        loop.submit { [core] in core.value.start(handler: handler) }
    }

    /// Acknowledges outcomes, in any order; tags of an earlier connection are ignored.
    public func settle(_ tags: [DeliveryTag]) {
        loop.submit { [core] in core.value.settle(tags) }
    }

    /// Writes the last acknowledgements, closes the connection and ends the loop; the consumer cannot be used again.
    public func close() async {
        await withCheckedContinuation { continuation in
            loop.submit { [core] in
                core.value.close()
                continuation.resume()
            }
        }
        loop.stopAndJoin()
    }
}
