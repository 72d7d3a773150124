internal import HTTPClient
internal import Metrics
import Notifications
import StructuredLogging

/// The log and the metrics of a route over HTTP/1.1; the instruments are those of routes over HTTP/2, as far as they
/// mean the same.
struct HTTP1RouteLog {
    private let route: HTTP1Route
    private let logger: Logger
    private let metrics: RequestMetrics
    private var reported = (inFlight: 0, waiting: 0)

    init(route: HTTP1Route, logger: Logger, metrics: MetricsRegistry) {
        self.route = route
        self.logger = logger
        self.metrics = RequestMetrics(app: route.app, service: route.service, registry: metrics)
    }

    private func log(_ level: LogLevel, _ event: StaticString, _ fields: [LogField]) {
        let common: [LogField] = [
            .field("service", route.service.rawValue), .field("app", route.app), .field("route", route.name),
            .field("endpoint", route.endpoint.description),
        ]
        logger.log(level, event, common + fields)
    }

    func connected() {
        metrics.connectsReady.add()
        log(.info, "push.connection.ready", [])
    }

    func failed(_ reason: String) {
        metrics.connectsFailed.add()
        log(.warning, "push.connection.failed", [.field("reason", reason)])
    }

    func notProcessed(_ count: Int) { metrics.notProcessed.add(count) }

    func ambiguous(_ failure: PostFailure) {
        metrics.ambiguous.add()
        guard failure.kind == .connectionLost else { return }
        metrics.connectionsLost.add()
        log(.warning, "push.connection.lost", [.field("reason", failure.description)])
    }

    func authorizationRefused(reason: String) {
        log(.warning, "push.authorization.refused", [.field("reason", reason)])
    }

    func authorizationMissing(reason: String) {
        log(.warning, "push.connection.failed", [.field("reason", reason)])
    }

    /// Brings the gauges up to date, once a tick.
    mutating func sizes(inFlight count: Int, waiting waitingCount: Int) {
        if count != reported.inFlight { metrics.openStreams.add(count - reported.inFlight) }
        if waitingCount != reported.waiting { metrics.waiting.add(waitingCount - reported.waiting) }
        reported = (count, waitingCount)
    }
}
