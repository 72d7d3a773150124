/// The figures of a workload and a registry, with the budgets of ours.
struct PeersReport {
    /// From how many percent on the other processor is full: the worker waits for it then.
    private static let fullPercent = 97.0

    let report: Report
    /// The workload and the registry, as parts of names.
    let stage: String
    let workload: PeerWorkload

    /// The name of a figure; `worker` may be `h2load` or `floor`, too.
    static func name(_ quantity: String, _ stage: String, _ worker: String) -> String {
        "\(quantity)_peers_\(stage)_\(worker)"
    }

    /// Adds the medians of all rounds.
    ///
    /// - Parameters:
    ///   - figures: of each worker those of its rounds.
    ///   - tool: h2load's, which pushes without a queue and a registry.
    ///   - bareConsumerMicroseconds: the cost of consuming and looking up in C; empty where it was not measured.
    func add(
        _ figures: [PeerWorker: [PeerRun.Figures]], tool: [LoadTool.Figures], bareConsumerMicroseconds: [Double]
    ) {
        let toolMicroseconds = Median.of(tool.map(\.microseconds))
        let toolPerSecond = Median.of(tool.map(\.perSecond))
        let ours = figures[.apus] ?? []
        func median(_ of: [PeerRun.Figures], _ quantity: (PeerRun.Figures) -> Double) -> Double {
            Median.of(of.map(quantity))
        }
        let otherPercent = median(ours, \.otherPercent)
        let isOtherFull = otherPercent >= Self.fullPercent
        for worker in workload.workers {
            let theirs = figures[worker] ?? []
            let isOurs = worker == .apus
            let name = worker.rawValue
            report.add(
                Self.name("pushes_per_second", stage, name), median(theirs, \.perSecond), "1/s",
                reference: isOurs ? toolPerSecond : median(ours, \.perSecond),
                budget: isOurs && !isOtherFull ? .valueAtLeast(workload == .oneToOne ? 75_000 : 170_000) : nil)
            report.add(
                Self.name("cpu_per_push", stage, name), median(theirs, \.microseconds), "µs",
                reference: isOurs ? toolMicroseconds : median(ours, \.microseconds),
                budget: isOurs ? cpuBudget : nil)
            report.add(
                Self.name("share_of_core", stage, name), median(theirs, \.percent), "%",
                budget: isOurs && !isOtherFull ? .valueAtLeast(95) : nil)
            report.add(Self.name("resident_memory", stage, name), median(theirs, \.mebibytes), "MiB")
        }
        if let java = figures[.java] {
            report.add(
                Self.name("pushes_per_second", stage, "beside_java"), median(ours, \.perSecond), "1/s",
                reference: median(java, \.perSecond))
            report.add(
                Self.name("cpu_per_push", stage, "beside_java"), median(ours, \.microseconds), "µs",
                reference: median(java, \.microseconds))
        }
        report.add(Self.name("share_of_other_core", stage, "apus"), otherPercent, "%")
        report.add(Self.name("pushes_per_second", stage, "h2load"), toolPerSecond, "1/s")
        report.add(Self.name("cpu_per_push", stage, "h2load"), toolMicroseconds, "µs")
        guard !bareConsumerMicroseconds.isEmpty else { return }
        report.add(
            Self.name("cpu_per_push_beside_floor", stage, "apus"), median(ours, \.microseconds), "µs",
            reference: Median.of(bareConsumerMicroseconds) + toolMicroseconds, budget: .ratioAtMost(1.5))
    }

    private var cpuBudget: Budget {
        guard workload == .oneToOne else { return .valueAtMost(4) }
        return .valueAtMost(stage.hasSuffix(PeerRegistry.postgresql.rawValue) ? 11 : 10)
    }
}

/// The figures of the scenario as a table: a line for each worker of each workload.
struct PeersTable {
    /// The table in Markdown.
    let text: String

    /// A table of those figures that are there.
    init(of results: [BenchmarkResult]) {
        let values = Dictionary(results.map { ($0.name, $0.value) }) { first, _ in first }
        func cell(_ quantity: String, _ stage: String, _ worker: String, digits: Int) -> String {
            values[PeersReport.name(quantity, stage, worker)].map {
                BenchmarkDocuments.number($0, digits: digits)
            } ?? "—"
        }
        var text = "| workload, registry | worker | pushes/s | CPU µs a push | of its core | resident |\n"
        text += "|---|---|--:|--:|--:|--:|\n"
        for workload in PeerWorkload.allCases {
            for registry in PeerRegistry.allCases {
                let stage = "\(workload.rawValue)_\(registry.rawValue)"
                var title = "\(workload.title), \(registry.title)"
                let workers = workload.workers.map { ($0.rawValue, $0.title) } + [("h2load", "h2load, pushes only")]
                for (worker, name) in workers {
                    text += "| \(title) | \(name) | \(cell("pushes_per_second", stage, worker, digits: 0))"
                    text += " | \(cell("cpu_per_push", stage, worker, digits: 1))"
                    text += " | \(cell("share_of_core", stage, worker, digits: 0)) %"
                    text += " | \(cell("resident_memory", stage, worker, digits: 0)) MiB |\n"
                    title = ""
                }
            }
        }
        self.text = text.replacing("— %", with: "").replacing("— MiB", with: "")
    }
}
