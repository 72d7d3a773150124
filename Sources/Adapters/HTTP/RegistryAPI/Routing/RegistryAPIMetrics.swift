import EventLoop
import HTTPServer
import Metrics

/// The metrics of the API; each route has its own.
struct RegistryAPIMetrics: Sendable {
    private let registry: MetricsRegistry
    private let errors: RequestErrors

    init(_ registry: MetricsRegistry, errors: RequestErrors = RequestErrors()) {
        self.registry = registry
        self.errors = errors
    }

    /// Registers the metrics of a route.
    func route(_ name: String) -> RouteMetrics {
        func counter(_ status: String) -> Counter {
            registry.counter(
                "apus_registry_api_requests_total",
                help: "Requests to the registry's API, by the first digit of the status.",
                labels: [.init("operation", name), .init("status", status)], appears: .onceUsed)
        }
        return RouteMetrics(
            succeeded: counter("2xx"), refused: counter("4xx"), failed: counter("5xx"),
            duration: registry.histogram(
                "apus_registry_api_request_duration_seconds", help: "From the whole request to its answer.",
                boundsSeconds: Histogram.requestBoundsSeconds, labels: [.init("operation", name)],
                appears: .onceUsed), errors: errors)
    }
}

/// The metrics of one route.
struct RouteMetrics: Sendable {
    let succeeded: Counter
    let refused: Counter
    let failed: Counter
    let duration: Histogram
    let errors: RequestErrors

    /// Counts an answer.
    func count(_ response: HTTPResponse, sinceNanoseconds began: UInt64) {
        switch response.status {
        case ..<400: succeeded.add()
        case ..<500: refused.add()
        default: failed.add()
        }
        errors.answered(status: response.status)
        duration.observe(nanoseconds: MonotonicClock.nowNanoseconds() &- began)
    }
}
