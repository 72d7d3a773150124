import ConnectionPool
internal import Metrics
import Notifications
import StructuredLogging

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

    let route: ServiceRoute
    let logger: Logger
    let metrics: ServiceMetrics
    private(set) var kind = PoolKind.main

    /// The same for one of the pools.
    func `for`(_ kind: PoolKind) -> EndpointPoolLog {
        var log = self
        log.kind = kind
        return log
    }

    private func log(_ level: LogLevel, _ event: StaticString, _ fields: [LogField]) {
        let common: [LogField] = [
            .field("service", route.service.rawValue), .field("app", route.app), .field("route", route.name),
            .field("endpoint", route.endpoint),
        ]
        let lane: [LogField] = kind == .main ? [] : [.field("lane", kind.rawValue)]
        logger.log(level, event, common + lane + fields)
    }

    func ready(address: String, streamsMaximum: Int) {
        metrics.requests.connectsReady.add()
        log(
            .info, "push.connection.ready",
            [.field("address", address), .field("streamsMaximum", streamsMaximum)])
    }

    func failed(reason: String, hint: String?) {
        metrics.requests.connectsFailed.add()
        log(
            .warning, "push.connection.failed",
            [.field("reason", reason)] + (hint.map { [.field("hint", $0)] } ?? []))
    }

    func lost(address: String, reason: String) {
        metrics.requests.connectionsLost.add()
        log(.warning, "push.connection.lost", [.field("address", address), .field("reason", reason)])
    }

    func closed(address: String) {
        log(.info, "push.connection.closed", [.field("address", address)])
    }

    func goAway(address: String, errorCode: UInt32, reason: String) {
        metrics.goAways.add()
        log(
            .info, "push.connection.goaway",
            [
                .field("address", address), .field("errorCode", Int(errorCode)), .field("reason", reason),
            ])
    }

    func circuit(_ circuit: ConnectionPool.Circuit) {
        guard case .open(let failures) = circuit else { return }
        log(.error, "push.circuit.open", [.field("failuresInARow", failures)])
    }

    func connectionFaulty(address: String, reason: String) {
        log(
            .warning, "push.connection.faulty", [.field("address", address), .field("reason", reason)])
    }

    func authorizationRefused(reason: String) {
        log(.warning, "push.authorization.refused", [.field("reason", reason)])
    }

    func submissionFailed(_ reason: String) {
        log(.warning, "push.request.notAccepted", [.field("reason", reason)])
    }

    func changed(from old: Sizes, to new: Sizes) {
        if new.states != old.states { statesChanged(from: old.states, to: new.states) }
        if new.streams != old.streams {
            metrics.requests.openStreams.add(new.streams - old.streams)
            metrics.streamsOfApp.add(new.streams - old.streams)
        }
        if new.waiting != old.waiting { metrics.requests.waiting.add(new.waiting - old.waiting) }
        if new.isCircuitOpen != old.isCircuitOpen { metrics.openCircuits.add(new.isCircuitOpen ? 1 : -1) }
        if new.counts != old.counts { countsChanged(from: old.counts, to: new.counts) }
    }

    private func statesChanged(from old: PoolStates, to new: PoolStates) {
        let gauges = kind == .main ? metrics.mainConnections : metrics.quarantineConnections
        gauges.connecting.add(new.connecting - old.connecting)
        gauges.proving.add(new.proving - old.proving)
        gauges.open.add(new.open - old.open)
        metrics.openOfApp.add(new.open - old.open)
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
            log(.info, "push.pool.grows", [.field("cause", cause)])
        }
        if new.evictedStarved > old.evictedStarved {
            log(
                .warning, "push.connection.starved",
                [.field("reason", "everything was answered, and the flow-control window was not opened again")])
        }
    }
}
