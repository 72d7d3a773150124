import ChangeEvents
public import DispatchCore
public import EventLoop
public import Metrics
import Notifications
public import StructuredLogging

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
        health.register(in: metrics)
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
    public func pushCounts() async throws -> [PushCounts] {
        try await loop.run { [pipeline] in pipeline.value.machine.dispatch.pushCounts }
    }

    /// How the pipeline is doing: its apps, and how late it is.
    func status() async throws -> PipelineStatus {
        try await loop.run { [pipeline] in pipeline.value.status }
    }

    /// Ends in order: no new deliveries, all that was begun is finished, requeued messages are confirmed,
    /// acknowledgements
    /// are written, connections closed.
    ///
    /// The loop of the pipeline goes on until `end`.
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

    /// Ends the loop and releases the parts, after a drain.
    public func end() {
        loop.submit { [pipeline] in pipeline.value.end() }
        loop.stopAndJoin()
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
