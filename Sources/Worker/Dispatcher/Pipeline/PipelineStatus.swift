import Metrics
import Notifications
import PushCore

/// How a pipeline is doing at a moment, for the report of its worker.
struct PipelineStatus: Sendable {
    /// The apps of the configuration, and `unknown`.
    var apps: [WorkerStatus.App]
    /// Whether nothing is consumed, because nothing could be sent.
    var isConsumptionStopped: Bool
    /// How many deliveries are taken and not settled.
    var unsettledDeliveries: Int
    /// The upper bounds of the buckets of the lag, in seconds.
    var lagBoundsSeconds: [Double]
    /// How many first attempts fell into each bucket since the start, and above the last.
    var lagCounts: [Int]
}

extension Pipeline {
    /// How it is doing now.
    var status: PipelineStatus {
        let dispatch = machine.dispatch
        let apps = dispatch.ledgers.enumerated().map { index, ledger in
            var app = WorkerStatus.App(name: machine.renderer.appName(at: index))
            app.totals = ledger
            app.problems = problems(ofApp: index, among: dispatch.ledgers.count - 1, dispatch.health)
            return app
        }
        return PipelineStatus(
            apps: apps, isConsumptionStopped: machine.consumptionStop != nil,
            unsettledDeliveries: dispatch.health.unsettledDeliveries,
            lagBoundsSeconds: metrics.lag.boundsSeconds, lagCounts: metrics.lag.bucketCounts)
    }

    /// What is wrong with an app, in the words of the log; nothing can be with that of unknown devices, the last one.
    private func problems(ofApp index: Int, among count: Int, _ health: AppHealth) -> [String] {
        guard index < count else { return [] }
        var problems: [String] = []
        if health.isKeyRefused(app: index) { problems.append("APNs does not accept its key; its pushes wait") }
        if health.doubtedApps.contains(index) {
            problems.append("APNs calls most of its tokens bad; check platform and bundle_id")
        }
        if health.isUnreachable(route: 2 * index) { problems.append("APNs' production server cannot be reached") }
        if health.isUnreachable(route: 2 * index + 1) { problems.append("APNs' development server cannot be reached") }
        if health.isSlow(app: index) { problems.append("its pushes hardly end; what exceeds its share waits") }
        return problems
    }
}
