import EventLoop
import Metrics
import Notifications
import PushCore

/// What the log and readiness say of apps that are in trouble.
extension Pipeline {
    /// Says what has changed of an app.
    func report(_ notice: AppHealth.Notice) {
        switch notice {
        case .keyRejected(let app, let reason):
            logger.log(
                .error, "apns.key.rejected",
                [
                    .field("app", machine.renderer.appName(at: app)), .field("reason", reason),
                    .field("advice", "Check key_file, key_id, team_id and bundle_id; the app's pushes wait unspent."),
                ])
            reportHeldApps()
        case .keyAccepted(let app):
            logger.log(.info, "apns.key.accepted", [.field("app", machine.renderer.appName(at: app))])
            reportHeldApps()
        case .tokensInDoubt(let app, let kind, let reason):
            logger.log(
                .error, "apns.tokens.in-doubt",
                [
                    .field("app", machine.renderer.appName(at: app)), .field("kind", kind.rawValue),
                    .field("reason", reason),
                    .field("advice", "Most tokens are called bad: check platform and bundle_id; none is pruned."),
                ])
        case .unreachable(let route): reportUnreachable(route)
        case .reachable(let route):
            guard let name = machine.renderer.appName(ofRoute: route) else { return }
            logger.log(.info, "apns.reachable", [.field("app", name), .field("route", route)])
        case .slow(let app):
            logger.log(
                .warning, "app.slow",
                [
                    .field("app", machine.renderer.appName(at: app)),
                    .field("advice", "Its pushes hardly end; what exceeds its share waits in the retry queues."),
                ])
        }
    }

    private func reportUnreachable(_ route: Int) {
        guard let name = machine.renderer.appName(ofRoute: route) else { return }
        logger.log(
            .warning, "apns.unreachable",
            [
                .field("app", name), .field("route", route),
                .field("advice", "Pushes of this route wait in the retry queues, and no attempt is spent."),
            ])
    }

    private func reportHeldApps() {
        let names = machine.dispatch.health.heldApps.map { machine.renderer.appName(at: $0) }.joined(separator: ", ")
        health.set(.key, names.isEmpty ? nil : "APNs does not accept the key of \(names)")
    }
}
