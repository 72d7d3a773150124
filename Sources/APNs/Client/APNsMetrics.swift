internal import Metrics

/// The instruments of one app; its two environments add to the same ones.
struct APNsMetrics: Sendable {
    let connections: Gauge
    let openStreams: Gauge
    let waiting: Gauge
    let connectsReady: Counter
    let connectsFailed: Counter
    let connectionsLost: Counter
    let goAways: Counter
    let ambiguous: Counter
    let notProcessed: Counter

    init(app: String, registry: MetricsRegistry) {
        let label = MetricsRegistry.Label("app", app)
        connections = registry.gauge(
            "apus_apns_connections", help: "Connections to APNs that can take pushes.", labels: [label])
        openStreams = registry.gauge(
            "apus_apns_open_streams", help: "Pushes that APNs has been sent and has not answered yet.",
            labels: [label])
        waiting = registry.gauge(
            "apus_apns_waiting_pushes", help: "Pushes that wait for a free stream to APNs.", labels: [label])
        let connectsHelp = "Attempts to connect to APNs, by result."
        connectsReady = registry.counter(
            "apus_apns_connects_total", help: connectsHelp, labels: [label, .init("result", "ready")])
        connectsFailed = registry.counter(
            "apus_apns_connects_total", help: connectsHelp, labels: [label, .init("result", "failed")])
        connectionsLost = registry.counter(
            "apus_apns_connections_lost_total", help: "Connections to APNs that ended without being asked to.",
            labels: [label])
        goAways = registry.counter(
            "apus_apns_goaways_total", help: "Connections that APNs asked to replace (GOAWAY).", labels: [label])
        ambiguous = registry.counter(
            "apus_apns_ambiguous_total", help: "Attempts of which nobody knows whether APNs processed them.",
            labels: [label])
        notProcessed = registry.counter(
            "apus_apns_not_processed_total", help: "Attempts that APNs certainly did not process.", labels: [label])
    }
}
