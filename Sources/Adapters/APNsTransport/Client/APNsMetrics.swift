internal import Metrics

/// The instruments of one app; its two environments add to the same ones.
struct APNsMetrics: Sendable {
    /// How many connections of one pool are in each state.
    struct Connections: Sendable {
        let connecting: Gauge
        let proving: Gauge
        let open: Gauge
        let draining: Gauge
    }

    let mainConnections: Connections
    let quarantineConnections: Connections
    let openStreams: Gauge
    let waiting: Gauge
    let connectsReady: Counter
    let connectsFailed: Counter
    let connectionsLost: Counter
    let goAways: Counter
    let ambiguous: Counter
    let notProcessed: Counter
    let openedForStreams: Counter
    let openedForWindow: Counter
    let grownInVain: Counter
    let retired: Counter
    let evictedSilent: Counter
    let evictedStarved: Counter
    let quarantined: Counter
    let openCircuits: Gauge

    init(app: String, registry: MetricsRegistry) {
        let label = MetricsRegistry.Label("app", app)
        mainConnections = Self.connections(of: .main, label, registry)
        quarantineConnections = Self.connections(of: .quarantine, label, registry)
        openStreams = registry.gauge(
            "apus_apns_open_streams", help: "Pushes that APNs has been sent and has not answered yet.",
            labels: [label])
        waiting = registry.gauge(
            "apus_apns_waiting_pushes", help: "Pushes that wait for a free stream to APNs.", labels: [label])
        let connectsHelp = "Attempts to connect to APNs, by outcome."
        connectsReady = registry.counter(
            "apus_apns_connects_total", help: connectsHelp, labels: [label, .init("outcome", "ready")])
        connectsFailed = registry.counter(
            "apus_apns_connects_total", help: connectsHelp, labels: [label, .init("outcome", "failed")])
        connectionsLost = registry.counter(
            "apus_apns_connections_lost_total", help: "Connections to APNs that ended unexpectedly.",
            labels: [label])
        goAways = registry.counter(
            "apus_apns_goaways_total", help: "Connections that APNs asked to replace (GOAWAY).", labels: [label])
        ambiguous = registry.counter(
            "apus_apns_attempts_ambiguous_total",
            help: "Attempts without an answer that APNs may have processed; each may have made a duplicate.",
            labels: [label])
        notProcessed = registry.counter(
            "apus_apns_attempts_not_processed_total", help: "Attempts that APNs certainly did not process.",
            labels: [label])
        openCircuits = registry.gauge(
            "apus_apns_open_circuits", help: "Pools that have failed to connect many times in a row.",
            labels: [label])
        let openedHelp = "Connections opened because pushes waited, by what was exhausted."
        openedForStreams = registry.counter(
            "apus_apns_pool_connections_opened_total", help: openedHelp, labels: [label, .init("reason", "streams")])
        openedForWindow = registry.counter(
            "apus_apns_pool_connections_opened_total", help: openedHelp, labels: [label, .init("reason", "window")])
        grownInVain = registry.counter(
            "apus_apns_pool_growths_reverted_total",
            help: "Times that additional connections brought no additional answers and were closed.",
            labels: [label])
        retired = registry.counter(
            "apus_apns_pool_connections_retired_total", help: "Connections closed because fewer sufficed.",
            labels: [label])
        let evictedHelp = "Stalled connections that the worker closed, by reason."
        evictedSilent = registry.counter(
            "apus_apns_connections_evicted_total", help: evictedHelp, labels: [label, .init("reason", "silent")])
        evictedStarved = registry.counter(
            "apus_apns_connections_evicted_total", help: evictedHelp, labels: [label, .init("reason", "window")])
        quarantined = registry.counter(
            "apus_apns_pushes_quarantined_total",
            help: "Pushes sent apart from the others, because their token was rejected lately.", labels: [label])
    }

    private static func connections(
        of pool: PoolKind, _ label: MetricsRegistry.Label, _ registry: MetricsRegistry
    ) -> Connections {
        func gauge(_ state: String) -> Gauge {
            registry.gauge(
                "apus_apns_connections", help: "Connections to APNs, by pool and state.",
                labels: [label, .init("pool", pool.rawValue), .init("state", state)])
        }
        return Connections(
            connecting: gauge("connecting"), proving: gauge("proving"), open: gauge("open"),
            draining: gauge("draining"))
    }
}
