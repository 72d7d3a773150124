internal import Metrics
internal import PushCore

/// What a route says to the log and the metrics.
struct RouteLog {
    /// The numbers that the gauges show.
    struct Sizes {
        var connections = 0
        var streams = 0
        var waiting = 0
    }

    let app: String
    let environment: String
    let endpoint: String
    let logger: Logger
    let metrics: APNsMetrics

    private var route: [LogField] {
        [.field("app", app), .field("route", environment), .field("endpoint", endpoint)]
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

    func tokenRefused(reason: String) {
        logger.log(.warning, "apns.token.refused", route + [.field("reason", reason)])
    }

    func submissionFailed(_ reason: String) {
        logger.log(.warning, "apns.request.notAccepted", route + [.field("reason", reason)])
    }

    func changed(from old: Sizes, to new: Sizes) {
        if new.connections != old.connections { metrics.connections.add(new.connections - old.connections) }
        if new.streams != old.streams { metrics.openStreams.add(new.streams - old.streams) }
        if new.waiting != old.waiting { metrics.waiting.add(new.waiting - old.waiting) }
    }
}
