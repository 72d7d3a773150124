import ConnectionPool
internal import Metrics
import Notifications

/// The log and the metrics of a route.
struct EndpointPoolLog {
    /// The numbers that the gauges show.
    struct Sizes {
        var states = PoolStates()
        var streams = 0
        var waiting = 0
        var counts = PoolCounts()
        var isCircuitOpen = false
    }

    let app: String
    let environment: String
    let endpoint: String
    let logger: Logger
    let metrics: APNsMetrics
    private(set) var kind = PoolKind.main

    /// The same for one of the pools.
    func `for`(_ kind: PoolKind) -> EndpointPoolLog {
        var log = self
        log.kind = kind
        return log
    }

    private var route: [LogField] {
        [.field("app", app), .field("route", environment), .field("endpoint", endpoint)]
            + (kind == .main ? [] : [.field("lane", kind.rawValue)])
    }

    func ready(address: String, streamsMaximum: Int) {
        metrics.connectsReady.add()
        logger.log(
            .info, "apns.connection.ready",
            route + [.field("address", address), .field("streamsMaximum", streamsMaximum)])
    }

    func failed(reason: String, hint: String?) {
        metrics.connectsFailed.add()
        logger.log(
            .warning, "apns.connection.failed",
            route + [.field("reason", reason)] + (hint.map { [.field("hint", $0)] } ?? []))
    }

    func lost(address: String, reason: String) {
        metrics.connectionsLost.add()
        logger.log(.warning, "apns.connection.lost", route + [.field("address", address), .field("reason", reason)])
    }

    func closed(address: String) {
        logger.log(.info, "apns.connection.closed", route + [.field("address", address)])
    }

    func goAway(address: String, errorCode: UInt32, reason: String) {
        metrics.goAways.add()
        logger.log(
            .info, "apns.connection.goaway",
            route + [
                .field("address", address), .field("errorCode", Int(errorCode)), .field("reason", reason),
            ])
    }

    func circuit(_ circuit: ConnectionPool.Circuit) {
        guard case .open(let failures) = circuit else { return }
        logger.log(.error, "apns.circuit.open", route + [.field("failuresInARow", failures)])
    }

    func connectionFaulty(address: String, reason: String) {
        logger.log(
            .warning, "apns.connection.faulty", route + [.field("address", address), .field("reason", reason)])
    }

    func tokenRefused(reason: String) {
        logger.log(.warning, "apns.token.refused", route + [.field("reason", reason)])
    }

    func submissionFailed(_ reason: String) {
        logger.log(.warning, "apns.request.notAccepted", route + [.field("reason", reason)])
    }

    func changed(from old: Sizes, to new: Sizes) {
        if new.states != old.states { statesChanged(from: old.states, to: new.states) }
        if new.streams != old.streams { metrics.openStreams.add(new.streams - old.streams) }
        if new.waiting != old.waiting { metrics.waiting.add(new.waiting - old.waiting) }
        if new.isCircuitOpen != old.isCircuitOpen { metrics.openCircuits.add(new.isCircuitOpen ? 1 : -1) }
        if new.counts != old.counts { countsChanged(from: old.counts, to: new.counts) }
    }

    private func statesChanged(from old: PoolStates, to new: PoolStates) {
        let gauges = kind == .main ? metrics.mainConnections : metrics.quarantineConnections
        gauges.connecting.add(new.connecting - old.connecting)
        gauges.proving.add(new.proving - old.proving)
        gauges.open.add(new.open - old.open)
        gauges.draining.add(new.draining - old.draining)
    }

    private func countsChanged(from old: PoolCounts, to new: PoolCounts) {
        metrics.openedForStreams.add(new.openedForStreams - old.openedForStreams)
        metrics.openedForWindow.add(new.openedForWindow - old.openedForWindow)
        metrics.grownInVain.add(new.grownInVain - old.grownInVain)
        metrics.retired.add(new.retired - old.retired)
        metrics.evictedSilent.add(new.evictedSilent - old.evictedSilent)
        metrics.evictedStarved.add(new.evictedStarved - old.evictedStarved)
        if new.openedForStreams + new.openedForWindow > old.openedForStreams + old.openedForWindow {
            let cause = new.openedForWindow > old.openedForWindow ? "window" : "streams"
            logger.log(.info, "apns.pool.grows", route + [.field("cause", cause)])
        }
        if new.evictedStarved > old.evictedStarved {
            logger.log(
                .warning, "apns.connection.starved",
                route + [.field("reason", "APNs answered everything and opened the flow-control window no more")])
        }
    }
}
