import Dispatch
import DispatchCore
import EventLoop
import Metrics
import Notifications
import PushTestKit
import StructuredLogging
import Testing

@testable import Dispatcher

@Suite("The start of a pipeline")
struct DispatchStartTests {
    /// A transport that says that its routes are good, and waits until the pipeline's loop has heard it.
    private final class EagerTransport: PushTransport {
        private let loop: EventLoop

        init(loop: EventLoop) { self.loop = loop }

        func start(handler: any PushTransportHandler) {
            handler.routesChanged([RouteChange(route: 0, isReachable: true)])
            // The end of the tick comes before the next one.
            for _ in 0..<2 {
                let hasRun = DispatchSemaphore(value: 0)
                loop.submit { hasRun.signal() }
                hasRun.wait()
            }
        }

        func send(_ requests: [PushRequest]) {}
        func close() async {}
    }

    @Test("What a part reports before all parts have started waits for the others")
    func earlyReport() async throws {
        let loop = try EventLoop(name: "dispatch")
        let metrics = MetricsRegistry()
        let client = RegistryClient(
            loop: try EventLoop(name: "registry"), registry: InMemoryRegistry(), limits: DispatchLimits(),
            logger: .silent, metrics: RegistryMetrics(metrics), nowMilliseconds: { 1 })
        let broker = FakeBroker()
        let route = AppRoute(
            index: 0, name: "chat", bundleID: "com.example.chat", productionRoute: 0, sandboxRoute: 1, courierRoute: 2)
        let dispatch = Dispatch(
            loop: loop,
            configuration: PipelineConfiguration(
                apps: [.init(route: route, identityPoolIDs: [])],
                retryPolicy: RetryPolicy(
                    delaysMilliseconds: [1_000], attemptsMaximum: 3, ageMaximumMilliseconds: 3_600_000,
                    serverErrorDelayMilliseconds: 0),
                queues: DispatchQueues(retry: [1_000: "apus.retry.1s"], fanout: "fanout", deadLetter: "dead-letter")),
            parts: PipelineParts(
                source: broker, publisher: broker, transport: EagerTransport(loop: loop), registryReads: [client],
                registryWrites: client, now: { SystemClocks.now() }),
            metrics: metrics, logger: .silent)
        dispatch.start()
        #expect(await broker.wait { $0.isConsuming })
        for loop in [loop, client.loop] { loop.stopAndJoin() }
    }
}
