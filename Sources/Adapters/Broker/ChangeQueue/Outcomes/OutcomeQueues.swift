public import ChangeEvents
public import EventLoop
public import Metrics
public import StructuredLogging

/// Consumes the outcomes of several durable queues, over one connection and on one loop.
///
/// Each queue is a source of its own, with a prefetch of its own. A queue that is missing, that the user may not read,
/// or whose deliveries are held for too long interrupts that source alone. It reconnects forever.
public final class OutcomeQueues: Sendable {
    /// One of the queues.
    public struct Queue: Hashable, Sendable {
        /// Its name.
        public var name: String
        /// How many of its deliveries may be unacknowledged.
        public var prefetch: UInt16

        /// Names a queue.
        public init(name: String, prefetch: UInt16) {
            self.name = name
            self.prefetch = prefetch
        }
    }

    /// The source of each queue, in their order; the connection is made when all of them were started.
    public let sources: [any MessageSource]

    /// Creates the sources.
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
        let core = LoopBound(
            OutcomeQueuesCore(
                queues, configuration: configuration, name: connection, loop: loop, logger: logger,
                metrics: ConnectionMetrics(metrics, connection: connection)), to: loop)
        sources = queues.indices.map { OutcomeQueueSource(core, index: $0) }
    }
}

/// One queue of an `OutcomeQueues`.
private final class OutcomeQueueSource: MessageSource {
    private let core: LoopBound<OutcomeQueuesCore>
    private let index: Int

    init(_ core: LoopBound<OutcomeQueuesCore>, index: Int) {
        self.core = core
        self.index = index
    }

    func start(handler: any DeliveryHandler) {
        core.loop.submit { [core, index] in core.value.start(index, handler: handler) }
    }

    func settle(_ tags: [DeliveryTag]) {
        core.loop.submit { [core, index] in core.value.settle(index, tags) }
    }

    /// Gives the queue's deliveries back; the source that is closed last ends the connection and the loop.
    func close() async {
        let isLast = await withCheckedContinuation { continuation in
            core.loop.submit { [core, index] in core.value.close(index) { continuation.resume(returning: $0) } }
        }
        if isLast { core.loop.stopAndJoin() }
    }
}
