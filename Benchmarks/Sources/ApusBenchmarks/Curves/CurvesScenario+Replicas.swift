/// Workers that share a queue while the way to APNs bounds each.
extension CurvesScenario {
    /// Shows the joint throughput of 1 to 16 workers, beside as many times the throughput of one.
    func showReplicas() async throws {
        let scenario = ReplicaScenario(bench: bench, report: report)
        var together = Curve.Series(name: "measured")
        var linear = Curve.Series(name: "as many times one")
        var alone: Double?
        for figures in try await scenario.measure(Scale.of([1, 2, 4, 8, 16], small: [1, 2])) {
            let count = Double(figures.replicas)
            alone = alone ?? figures.perSecond
            together.points.append(.init(x: count, y: figures.perSecond))
            linear.points.append(.init(x: count, y: count * (alone ?? 0)))
        }
        try show(
            Curve(
                name: "replicas-rate", title: "Workers on one queue, APNs 50 ms away, 40 streams each",
                xTitle: "workers", yTitle: "pushes, 1/s", series: [together, linear]))
    }
}
