import EventLoop

/// The scenarios, in the order in which they are measured.
enum BenchmarkScenario: String, CaseIterable {
    case client, services, distance, allocations, micro, instructions, matching, pipeline, subscriptions
    case worker, brokers, outcomes, repetitions, postgresql, relay, events, replicas, queues, latency, fanout, fairness
    case isolation, bulkheads, memory, peers
    case libraries, curves

    /// A summary, in a sentence or two.
    var summary: String {
        switch self {
        case .client: "The client alone, beside h2load with the same requests, to nghttpd and to the simulator."
        case .services:
            "The clients of FCM and Web Push, beside the client of APNs and h2load, and beside cryptography alone."
        case .distance: "The client with APNs 25 ms and 100 ms away, beside h2load."
        case .allocations: "Allocations of memory for each push."
        case .micro: "Single steps: decoding, rendering, signing, looking up devices."
        case .instructions: "Instructions and allocations of fixed work, beside those that were committed."
        case .matching: "The index of record subscriptions: matching, memory, changes."
        case .pipeline: "The worker without sockets: a queue, a registry and a push service that answer at once."
        case .subscriptions: "Saving and reading record subscriptions, and record events in the worker without sockets."
        case .worker: "The whole worker between RabbitMQ and the simulator, beside a bare consumer in C."
        case .brokers:
            "The whole worker with each version of RabbitMQ in turns; the reference is the system's own version."
        case .outcomes:
            "The whole worker that tells a backend what became of every push, beside the same that tells nothing."
        case .repetitions:
            "The whole worker that remembers each event, and one that keeps what became of it, beside one that does "
                + "neither."
        case .postgresql:
            "The whole worker with its registry in PostgreSQL, beside it (0 ms) and 1 ms away. The 0 ms figure is the "
                + "reference of the 1 ms figure."
        case .relay:
            "A relay that empties a full outbox, beside a bare publisher in C; the time from a commit to the push."
        case .events:
            "The registry's API that takes events, in batches and one by one, beside a bare publisher in C."
        case .replicas: "1, 2, 4 and 8 workers that share a queue, with a fixed load for each."
        case .queues: "1, 2 and 4 work queues."
        case .latency: "The time from publishing to the request at APNs, at half of the highest rate."
        case .fanout: "One event to a million devices."
        case .fairness: "Small events while a large fan-out is served."
        case .isolation: "One app while another is throttled, refused, unanswered or unreachable."
        case .bulkheads: "One push service of an app while another is throttled, refused or unanswered."
        case .memory:
            "The import of a million devices, and the memory of a worker with them; memory and series of an app."
        case .peers:
            "Apus beside workers in Java, Go and Python, each alone on a processor; [peers](peers) has a table."
        case .libraries:
            "The clients of FCM and Web Push beside firebase-admin and pywebpush, each alone on a processor."
        case .curves: "How cost grows: devices, subscriptions, audience, payload, distance; see the charts above."
        }
    }

    /// The limits of its resources; generous, because they only end a scenario that has gone wrong.
    var limits: ScenarioLimits {
        switch self {
        case .matching: ScenarioLimits(seconds: 900, mebibytes: 8_192)
        case .subscriptions: ScenarioLimits(seconds: 1_800, mebibytes: 12_288)
        case .peers: ScenarioLimits(seconds: 1_800, mebibytes: 4_096)
        case .curves: ScenarioLimits(seconds: 2_400, mebibytes: 6_144)
        case .isolation: ScenarioLimits(seconds: 1_200, mebibytes: 4_096)
        // Two minutes, or many where all else goes first.
        case .instructions: ScenarioLimits(seconds: 1_800, mebibytes: 4_096)
        default: ScenarioLimits(seconds: 600, mebibytes: 4_096)
        }
    }

    /// Whether its figures stand in `results.json`; those of the scenario `instructions` have a file of their own.
    var keepsResults: Bool { self != .instructions }

    /// Variables of the environment of its process.
    var environment: [String: String] {
        self == .allocations ? ["LD_PRELOAD": Allocations.libraryPath] : [:]
    }

    /// Runs it in this process.
    func run(_ bench: Workbench, _ report: Report) async throws {
        switch self {
        case .client: try await ClientScenario(bench: bench, report: report).run()
        case .services: try await ServicesScenario(bench: bench, report: report).run()
        case .distance: try await DistanceScenario(bench: bench, report: report).run()
        case .allocations: try await AllocationScenario(bench: bench, report: report).run()
        case .micro: try await MicroScenario(bench: bench, report: report).run()
        case .instructions: try await InstructionScenario(bench: bench, report: report).run()
        case .matching: try MatchingScenario(report: report).run()
        case .pipeline: try await PipelineScenario(bench: bench, report: report).run()
        case .subscriptions: try await SubscriptionScenario(bench: bench, report: report).run()
        case .worker: try await WorkerScenario(bench: bench, report: report).run()
        case .brokers: try await BrokersScenario(bench: bench, report: report).run()
        case .outcomes: try await OutcomesScenario(bench: bench, report: report).run()
        case .repetitions: try await RepetitionScenario(bench: bench, report: report).run()
        case .postgresql: try await PostgreSQLScenario(bench: bench, report: report).run()
        case .relay: try await RelayScenario(bench: bench, report: report).run()
        case .events: try await EventsScenario(bench: bench, report: report).run()
        case .replicas: try await ReplicaScenario(bench: bench, report: report).run()
        case .queues: try await QueueScenario(bench: bench, report: report).run()
        case .latency: try await LatencyScenario(bench: bench, report: report).run()
        case .fanout: try await FanOutScenario(bench: bench, report: report).run()
        case .fairness: try await FairnessScenario(bench: bench, report: report).run()
        case .isolation: try await IsolationScenario(bench: bench, report: report).run()
        case .bulkheads: try await BulkheadScenario(bench: bench, report: report).run()
        case .memory: try await MemoryScenario(bench: bench, report: report).run()
        case .peers: try await PeersScenario(bench: bench, report: report).run()
        case .libraries: try await LibrariesScenario(bench: bench, report: report).run()
        case .curves: try await CurvesScenario(bench: bench, report: report).run()
        }
    }
}

/// How long a scenario may take, and how much memory all its processes may have resident, with the broker and others.
struct ScenarioLimits {
    var seconds: Double
    var mebibytes: Int
}

/// How much the scenarios do: enough to measure, or only enough to see that they work.
enum Scale {
    /// Whether `--small` was given: small counts, no budgets, no results.
    static let isSmall = (try? ProcessArguments.words())?.contains("--small") ?? false

    /// The value for measuring, or the small one.
    static func of<Value>(_ whole: Value, small: Value) -> Value { isSmall ? small : whole }
}

/// Why a scenario has no figures.
struct BenchmarkFailure: Error, CustomStringConvertible {
    let description: String
}
