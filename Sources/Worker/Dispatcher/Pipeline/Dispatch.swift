public import EventLoop
public import Metrics
public import Notifications
public import PushCore
import Synchronization

/// A running pipeline, as the rest of the program sees it: start it, ask how it is, drain it.
public final class Dispatch: Sendable {
    /// How a drain ended.
    public enum DrainOutcome: Sendable {
        /// Everything that was begun has been settled, and the broker was told.
        case complete
        /// Time ran out; unsettled deliveries go back to the broker and come again.
        case timedOut
    }

    /// The reasons why the worker is not ready.
    public let health = PipelineHealth()

    private let loop: EventLoop
    private let pipeline: LoopBound<Pipeline>
    private let source: any DeliverySource
    private let publisher: any MessagePublisher
    private let transport: any PushTransport

    /// Builds a pipeline; nothing happens before `start`.
    ///
    /// - Parameters:
    ///   - loop: where the pipeline will live.
    ///   - configuration: apps, policy, queues and limits.
    ///   - parts: the adapters.
    ///   - metrics: where the counters are registered.
    ///   - logger: where events of interest go.
    public init(
        loop: EventLoop, configuration: PipelineConfiguration, parts: sending PipelineParts, metrics: MetricsRegistry,
        logger: Logger
    ) {
        self.loop = loop
        source = parts.source
        publisher = parts.publisher
        transport = parts.transport
        pipeline = LoopBound(
            Pipeline(
                loop: loop, configuration: configuration, parts: parts, metrics: metrics, health: health,
                logger: logger),
            to: loop)
    }

    /// Begins to send, to publish and to consume, in this order, so that nothing arrives before it can be handled.
    ///
    /// Consumption starts after all subscriptions to records have been read: an earlier event would miss their devices.
    public func start() {
        let inbox = PipelineInbox(pipeline)
        transport.start(handler: inbox)
        publisher.start(handler: inbox)
        loop.submit { [pipeline] in pipeline.value.start(inbox: inbox) }
    }

    /// The outcomes of the pushes so far, by app; the last entry is for devices of unknown apps.
    public func ledgers() async throws -> [PushCounts] {
        try await loop.run { [pipeline] in pipeline.value.machine.dispatch.ledgers }
    }

    /// Ends in order: no new deliveries, all that was begun is finished, requeued messages are confirmed,
    /// acknowledgements
    /// are written, connections closed.
    ///
    /// - Parameter timeoutSeconds: the time for work that has begun.
    /// - Returns: whether it was finished in time.
    public func drain(timeoutSeconds: Double) async -> DrainOutcome {
        // If the subscriptions are still being read, consumption must not start afterwards.
        _ = try? await loop.run { [pipeline] in pipeline.value.close() }
        await source.cancel()
        let isDrained = await finish(timeoutSeconds: timeoutSeconds)
        let isPublished = await publisher.close(deadlineSeconds: isDrained ? 5 : 1)
        await source.close()
        await transport.close()
        return isDrained && isPublished ? .complete : .timedOut
    }

    private func finish(timeoutSeconds: Double) async -> Bool {
        await withCheckedContinuation { continuation in
            loop.submit { [pipeline, loop] in
                let pipeline = pipeline.value
                var isAnswered = false
                let answer = { (isDrained: Bool) in
                    guard !isAnswered else { return }
                    isAnswered = true
                    continuation.resume(returning: isDrained)
                }
                loop.schedule(afterNanoseconds: UInt64(timeoutSeconds * 1_000_000_000)) { answer(false) }
                pipeline.drain { answer(true) }
            }
        }
    }
}

/// The reasons why a worker is not ready, in words; the pipeline writes them, the admin server's thread reads them.
public final class PipelineHealth: Sendable {
    /// The things that can be wrong, each with a reason of its own.
    public enum Concern: String, CaseIterable, Sendable {
        /// The worker does not consume.
        case source
        /// APNs cannot be reached for any app, so the worker consumes nothing.
        case apns
        /// The worker cannot requeue what fails.
        case publisher
        /// The registry does not answer.
        case registry
        /// The subscriptions to records have not all been read yet.
        case subscriptions
        /// APNs does not accept the key of an app.
        case key
        /// APNs calls most tokens of an app bad.
        case tokens
        /// The broker does not take requeued messages.
        case requeuing = "parking"
        /// The worker is shutting down.
        case draining
    }

    private let reasons = Mutex<[Concern: String]>([
        .source: "not connected to RabbitMQ yet", .subscriptions: "reads the subscriptions of the registry",
    ])

    init() {}

    func set(_ concern: Concern, _ reason: String?) {
        reasons.withLock { $0[concern] = reason }
    }

    /// Why the worker is not ready, most important first; empty if it is.
    public var problems: [String] { checks.compactMap(\.reason) }

    /// Every concern with its reason, nil where all is well.
    public var checks: [(concern: Concern, reason: String?)] {
        reasons.withLock { reasons in Concern.allCases.map { ($0, reasons[$0]) } }
    }
}
