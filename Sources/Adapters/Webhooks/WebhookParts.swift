import ChangeEvents
import EventLoop
import Metrics
import StructuredLogging

/// The parts of the service that live on its loop: the cores of all endpoints, and the publishes that have not ended.
final class WebhookParts {
    private let loop: EventLoop
    private var cores: [WebhookCore] = []
    /// The copies that RabbitMQ has not confirmed, by the number of their publish.
    private var copies: [UInt64: (core: Int, tag: DeliveryTag)] = [:]
    private var nextIdentifier: UInt64 = 1
    private var stopped: ((Bool) -> Void)?

    init(
        _ routes: [(route: WebhookService.Route, source: WebhookSource)], publisher: any MessagePublisher,
        userAgent: String, metrics: MetricsRegistry,
        logger: Logger, board: WebhookHealthBoard, loop: EventLoop
    ) throws {
        self.loop = loop
        for (index, (route, source)) in routes.enumerated() {
            let surroundings = WebhookCore.Surroundings(
                publish: { [weak self] tag, message, delay in
                    guard let self else { return }
                    publisher.publish([
                        OutgoingMessage(
                            identifier: number(of: tag, core: index), exchange: "", routingKey: route.retryQueue(delay),
                            message: message)
                    ])
                },
                settle: { source.settle($0) },
                stopConsuming: { Task { await source.close() } }, report: { board.report($0, endpoint: index) },
                isIdle: { [weak self] in self?.endIfIdle() })
            cores.append(
                try WebhookCore(
                    route.endpoint, loop: loop, metrics: WebhookMetrics(metrics, app: route.endpoint.app),
                    logger: logger, userAgent: userAgent, surroundings: surroundings))
        }
    }

    private func number(of tag: DeliveryTag, core: Int) -> UInt64 {
        defer { nextIdentifier += 1 }
        copies[nextIdentifier] = (core, tag)
        return nextIdentifier
    }

    // MARK: News

    func received(_ deliveries: [Delivery], core: Int) { cores[core].received(deliveries) }

    func consumptionBegan(epoch: UInt32, core: Int) { cores[core].consumptionBegan(epoch: epoch) }

    func publishesEnded(_ outcomes: [(identifier: UInt64, outcome: PublishOutcome)]) {
        for (identifier, outcome) in outcomes {
            guard let (core, tag) = copies.removeValue(forKey: identifier) else { continue }
            cores[core].copyEnded(tag, outcome)
        }
    }

    // MARK: The end

    func stop(withinSeconds seconds: Double, stopped: @escaping (Bool) -> Void) {
        for core in cores { core.stopBegan() }
        self.stopped = stopped
        loop.schedule(afterNanoseconds: UInt64(max(0, seconds) * 1_000_000_000)) { [weak self] in
            self?.end(isComplete: false)
        }
        endIfIdle()
    }

    private func endIfIdle() {
        guard stopped != nil, cores.allSatisfy(\.isIdle) else { return }
        end(isComplete: true)
    }

    private func end(isComplete: Bool) {
        guard let stopped else { return }
        self.stopped = nil
        for core in cores { core.close() }
        stopped(isComplete)
    }
}
