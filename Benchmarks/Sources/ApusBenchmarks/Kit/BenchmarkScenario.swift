/// What can be measured, in the order in which it is.
enum BenchmarkScenario: String, CaseIterable {
    case client, distance, peer, allocations, micro, matching, pipeline, subscriptions
    case worker, postgresql, replicas, queues, latency, fanout, fairness, isolation, memory

    /// What it may take; generous, because the limits end what has gone wrong.
    var limits: ScenarioLimits {
        switch self {
        case .matching: ScenarioLimits(seconds: 900, mebibytes: 8_192)
        case .subscriptions: ScenarioLimits(seconds: 1_800, mebibytes: 12_288)
        case .isolation: ScenarioLimits(seconds: 1_200, mebibytes: 4_096)
        default: ScenarioLimits(seconds: 600, mebibytes: 4_096)
        }
    }

    /// Variables of the environment of its process.
    var environment: [String: String] {
        self == .allocations ? ["LD_PRELOAD": Allocations.libraryPath] : [:]
    }

    /// Runs it in this process.
    func run(_ bench: Workbench, _ report: Report) async throws {
        switch self {
        case .client: try await ClientScenario(bench: bench, report: report).run()
        case .distance: try await DistanceScenario(bench: bench, report: report).run()
        case .peer: try await PeerScenario(bench: bench, report: report).run()
        case .allocations: try await AllocationScenario(bench: bench, report: report).run()
        case .micro: try await MicroScenario(bench: bench, report: report).run()
        case .matching: try MatchingScenario(report: report).run()
        case .pipeline: try await PipelineScenario(bench: bench, report: report).run()
        case .subscriptions: try await SubscriptionScenario(bench: bench, report: report).run()
        case .worker: try await WorkerScenario(bench: bench, report: report).run()
        case .postgresql: try await PostgreSQLScenario(bench: bench, report: report).run()
        case .replicas: try await ReplicaScenario(bench: bench, report: report).run()
        case .queues: try await QueueScenario(bench: bench, report: report).run()
        case .latency: try await LatencyScenario(bench: bench, report: report).run()
        case .fanout: try await FanOutScenario(bench: bench, report: report).run()
        case .fairness: try await FairnessScenario(bench: bench, report: report).run()
        case .isolation: try await IsolationScenario(bench: bench, report: report).run()
        case .memory: try await MemoryScenario(bench: bench, report: report).run()
        }
    }
}
