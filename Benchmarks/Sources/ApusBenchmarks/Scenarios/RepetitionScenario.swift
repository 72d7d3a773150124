import PushTestKit

/// The cost of pushing each event once, and of keeping what became of it: the whole worker beside the same that does
/// neither, in turns.
struct RepetitionScenario {
    private static let events = Scale.of(60_000, small: 2_000)
    private static let rounds = Scale.of(3, small: 1)

    let bench: Workbench
    let report: Report

    /// What a worker does beside pushing.
    private enum Kind: String, CaseIterable {
        case plain, remembered, history

        var settings: String { self == .history ? "history = \"24h\"" : "" }
    }

    func run() async throws {
        let broker = try await PrivateRabbitMQ.start()
        defer { broker.stop() }
        let simulator = try await bench.startSimulator(["--trusting", "--first-streams", "1000"])
        defer { simulator.kill() }
        try configure(.plain, broker, simulator)
        try await bench.apus("topology", "apply")
        try await bench.importDevices(Self.events, into: "repetitions.db") { $0 }
        var figures: [Kind: [LoadTool.Figures]] = [:]
        for round in 1...Self.rounds {
            for kind in Kind.allCases {
                try configure(kind, broker, simulator)
                let load = BenchmarkLoad(count: Self.events) { index in
                    var message = RegisteredDevice.message(index, syncCount: round)
                    message.isRemembered = kind == .remembered
                    return message
                }
                try await bench.publish(load, to: broker)
                figures[kind, default: []].append(try await bench.runWorker(pushes: Self.events))
            }
        }
        let plain = figures[.plain] ?? []
        for kind in [Kind.remembered, .history] {
            let some = figures[kind] ?? []
            report.add(
                "cpu_per_push_\(kind)", Median.of(some.map(\.microseconds)), "µs",
                reference: Median.of(plain.map(\.microseconds)),
                budget: kind == .remembered ? .ratioAtMost(1.1) : nil)
            report.add(
                "pushes_per_second_\(kind)", Median.of(some.map(\.perSecond)), "1/s",
                reference: Median.of(plain.map(\.perSecond)))
        }
    }

    private func configure(_ kind: Kind, _ broker: PrivateRabbitMQ, _ simulator: SimulatorProcess) throws {
        try bench.writeConfiguration(
            broker: broker.url, simulatorPort: simulator.port, registryURL: bench.registryURL("repetitions.db"),
            events: kind.settings)
    }
}
