public import Metrics

/// The instruments of the requests to the backend of one app; made at start.
///
/// Durations are those of all backends together: a series for each bucket and app would be too many.
public struct WebhookMetrics: Sendable {
    /// The result of a consumed outcome; the raw values are labels of a metric.
    enum Result: String, CaseIterable, Sendable {
        /// The endpoint took it.
        case delivered
        /// It waits in a retry queue.
        case retried
        /// It was given up.
        case dropped
    }

    /// How a request was answered; the raw values are labels of a metric.
    enum Answer: String, CaseIterable, Sendable {
        case success = "2xx"
        case redirect = "3xx"
        case clientError = "4xx"
        case serverError = "5xx"
        /// No answer, or no connection.
        case none

        init(status: Int) {
            self =
                switch status {
                case 200..<300: .success
                case 300..<400: .redirect
                case 400..<500: .clientError
                default: .serverError
                }
        }
    }

    private let deliveries: [Result: Counter]
    private let requests: [Answer: Counter]
    private let duration: Histogram
    private let inFlight: Gauge
    private let isUp: Gauge

    /// Registers the instruments.
    ///
    /// - Parameters:
    ///   - registry: that of the part of the process that posts, because a reload replaces it.
    ///   - app: the app.
    public init(_ registry: MetricsRegistry, app: String) {
        let label = MetricsRegistry.Label("app", app)
        deliveries = Dictionary(
            uniqueKeysWithValues: Result.allCases.map { result in
                let counter = registry.counter(
                    "apus_webhook_deliveries_total",
                    help: "Outcomes consumed to be posted, by result.",
                    labels: [label, .init("result", result.rawValue)],
                    appears: result == .delivered || result == .dropped ? .always : .onceUsed)
                return (result, counter)
            })
        requests = Dictionary(
            uniqueKeysWithValues: Answer.allCases.map { answer in
                let counter = registry.counter(
                    "apus_webhook_requests_total",
                    help: "Requests to backends, by the class of the status.",
                    labels: [label, .init("status", answer.rawValue)], appears: .onceUsed)
                return (answer, counter)
            })
        duration = registry.histogram(
            "apus_webhook_request_duration_seconds", help: "From a request to a backend to its answer.",
            boundsSeconds: Histogram.requestBoundsSeconds)
        inFlight = registry.gauge(
            "apus_webhook_requests_in_flight", help: "Requests to backends without an answer yet.", labels: [label],
            appears: .onceUsed)
        isUp = registry.gauge(
            "apus_webhook_endpoint_up",
            help: "1 while a backend takes outcomes, 0 while requests pause or ended (410).",
            labels: [label])
        isUp.set(1)
    }

    func count(_ result: Result) { deliveries[result]?.add() }

    func answered(_ answer: Answer, afterNanoseconds nanoseconds: UInt64) {
        requests[answer]?.add()
        if answer != .none { duration.observe(nanoseconds: nanoseconds) }
    }

    func show(requestCount: Int, isUp: Bool) {
        inFlight.set(requestCount)
        self.isUp.set(isUp ? 1 : 0)
    }
}
