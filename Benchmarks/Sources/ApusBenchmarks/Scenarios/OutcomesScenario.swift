import PushTestKit

/// The cost of outcomes: the whole worker that tells a backend of every push, beside the same that tells nothing.
struct OutcomesScenario {
    private static let events = Scale.of(60_000, small: 2_000)
    private static let fanOutDevices = Scale.of(60_000, small: 3_000)

    let bench: Workbench
    let report: Report

    func run() async throws {
        let broker = try await PrivateRabbitMQ.start()
        defer { broker.stop() }
        let simulator = try await bench.startSimulator(["--trusting", "--first-streams", "1000"])
        defer { simulator.kill() }
        try configure([], broker, simulator)
        try await bench.apus("topology", "apply")
        try await bindBackend(broker)
        try await bench.importDevices(Self.events, into: "outcomes.db") { $0 }
        let single = try await measure(pushes: Self.events, broker, simulator) { _ in
            (0..<Self.events).map { RegisteredDevice.event($0, syncCount: 1) }
        }
        try await bench.importDevices(Self.fanOutDevices, into: "outcomes.db") { _ in 0 }
        let fanOut = try await measure(pushes: 3 * Self.fanOutDevices, broker, simulator) { run in
            (0..<3).map { RegisteredDevice.request("\(run)-\($0)", identity: 0) }
        }
        for (name, figures) in [("one_to_one", single), ("fan_out", fanOut)] {
            report.add(
                "cpu_per_push_outcomes_\(name)", figures.told.microseconds, "µs",
                reference: figures.silent.microseconds)
            report.add(
                "pushes_per_second_outcomes_\(name)", figures.told.perSecond, "1/s",
                reference: figures.silent.perSecond)
        }
    }

    /// Lets a worker empty a queue that tells nothing, and then one that tells everything.
    private func measure(
        pushes: Int, _ broker: PrivateRabbitMQ, _ simulator: SimulatorProcess, events: (String) -> [String]
    ) async throws -> (silent: LoadTool.Figures, told: LoadTool.Figures) {
        func run(_ name: String, _ outcomes: [String]) async throws -> LoadTool.Figures {
            try configure(outcomes, broker, simulator)
            let file = try bench.write("\(name).ndjson", events(name).joined(separator: "\n") + "\n")
            try await bench.apus("publish", "--file", file)
            return try await bench.runWorker(pushes: pushes)
        }
        return (try await run("silent", []), try await run("told", ["all"]))
    }

    private func configure(
        _ outcomes: [String], _ broker: PrivateRabbitMQ, _ simulator: SimulatorProcess
    ) throws {
        try bench.writeConfiguration(
            broker: broker.url, simulatorPort: simulator.port, registryURL: bench.registryURL("outcomes.db"),
            outcomes: outcomes)
    }

    /// Makes the queue of a backend, which takes every outcome and keeps it.
    private func bindBackend(_ broker: PrivateRabbitMQ) async throws {
        try await broker.evaluate(
            """
            Queue = rabbit_misc:r(<<"/">>, queue, <<"apus.outcomes.bench">>),
            {new, _} = rabbit_amqqueue:declare(Queue, true, false,
                [{<<"x-queue-type">>, longstr, <<"quorum">>}], none, <<"bench">>),
            ok = rabbit_binding:add({binding, rabbit_misc:r(<<"/">>, exchange, <<"apus.outcomes">>),
                <<"#">>, Queue, []}, <<"bench">>).
            """)
    }
}
