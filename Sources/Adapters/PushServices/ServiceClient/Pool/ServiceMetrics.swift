internal import Metrics
import Notifications

/// The instruments of one app at one push service; its routes add to the same ones.
///
/// Events of connections are counted for all apps of a service together. The endpoint is the same for all, and a series
/// for each of hundreds of apps would hide its trouble.
struct ServiceMetrics: Sendable {
    /// How many connections of one pool are in each state.
    struct Connections: Sendable {
        let connecting: Gauge
        let proving: Gauge
        let open: Gauge
        let draining: Gauge
    }

    let mainConnections: Connections
    let quarantineConnections: Connections
    let requests: RequestMetrics
    let goAways: Counter
    let openedForStreams: Counter
    let openedForWindow: Counter
    let grownInVain: Counter
    let retired: Counter
    let evictedSilent: Counter
    let evictedStarved: Counter
    let quarantined: Counter
    let openCircuits: Gauge
    /// The app's own open connections, which are shown by its name on the operator's page only.
    let openOfApp = Gauge()
    /// The app's own pushes without an answer, likewise.
    let streamsOfApp = Gauge()

    init(app: String, service: PushService, registry: MetricsRegistry) {
        let labels = [MetricsRegistry.Label("service", service.rawValue)]
        mainConnections = Self.connections(of: .main, labels, registry)
        quarantineConnections = Self.connections(of: .quarantine, labels, registry)
        requests = RequestMetrics(app: app, service: service, registry: registry)
        goAways = registry.counter(
            "apus_push_goaways_total", help: "Connections that a push service asked to replace (GOAWAY).",
            labels: labels)
        openCircuits = registry.gauge(
            "apus_push_open_circuits", help: "Pools that failed to connect many times in a row.",
            labels: labels)
        let openedHelp = "Connections opened because pushes waited, by what was exhausted."
        openedForStreams = registry.counter(
            "apus_push_pool_connections_opened_total", help: openedHelp, labels: labels + [.init("reason", "streams")])
        openedForWindow = registry.counter(
            "apus_push_pool_connections_opened_total", help: openedHelp, labels: labels + [.init("reason", "window")])
        grownInVain = registry.counter(
            "apus_push_pool_growths_reverted_total",
            help: "Times that further connections brought no more answers and were closed.",
            labels: labels)
        retired = registry.counter(
            "apus_push_pool_connections_retired_total", help: "Connections closed because fewer sufficed.",
            labels: labels)
        let evictedHelp = "Stalled connections that the worker closed, by reason."
        evictedSilent = registry.counter(
            "apus_push_connections_evicted_total", help: evictedHelp, labels: labels + [.init("reason", "silent")])
        evictedStarved = registry.counter(
            "apus_push_connections_evicted_total", help: evictedHelp, labels: labels + [.init("reason", "window")])
        quarantined = registry.counter(
            "apus_push_quarantined_total",
            help: "Pushes sent apart, because their token was rejected lately.", labels: labels)
    }

    private static func connections(
        of pool: PoolKind, _ labels: [MetricsRegistry.Label], _ registry: MetricsRegistry
    ) -> Connections {
        func gauge(_ state: String) -> Gauge {
            registry.gauge(
                "apus_push_connections", help: "Connections to a push service, by pool and state.",
                labels: labels + [.init("pool", pool.rawValue), .init("state", state)])
        }
        return Connections(
            connecting: gauge("connecting"), proving: gauge("proving"), open: gauge("open"),
            draining: gauge("draining"))
    }
}

/// The instruments of an app at a push service that do not depend on the version of HTTP.
struct RequestMetrics: Sendable {
    let openStreams: Gauge
    let waiting: Gauge
    let connectsReady: Counter
    let connectsFailed: Counter
    let connectionsLost: Counter
    let ambiguous: Counter
    let notProcessed: Counter

    init(app: String, service: PushService, registry: MetricsRegistry) {
        let labels = [MetricsRegistry.Label("service", service.rawValue)]
        openStreams = registry.gauge(
            "apus_push_open_streams", help: "Pushes that a push service has not answered yet.",
            labels: labels)
        waiting = registry.gauge(
            "apus_push_waiting_pushes", help: "Pushes that wait for a free stream to their push service.",
            labels: [.init("app", app)] + labels, appears: .onceUsed)
        let connectsHelp = "Attempts to connect to a push service, by outcome."
        connectsReady = registry.counter(
            "apus_push_connects_total", help: connectsHelp, labels: labels + [.init("outcome", "ready")])
        connectsFailed = registry.counter(
            "apus_push_connects_total", help: connectsHelp, labels: labels + [.init("outcome", "failed")])
        connectionsLost = registry.counter(
            "apus_push_connections_lost_total", help: "Connections to a push service that ended unexpectedly.",
            labels: labels)
        ambiguous = registry.counter(
            "apus_push_attempts_ambiguous_total",
            help: "Attempts without an answer that may have made a duplicate.",
            labels: labels)
        notProcessed = registry.counter(
            "apus_push_attempts_not_processed_total", help: "Attempts that the push service certainly did not process.",
            labels: labels)
    }
}
