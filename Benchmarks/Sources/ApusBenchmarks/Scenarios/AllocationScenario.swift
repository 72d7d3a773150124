import APNsTransport
import Metrics
import PushTestKit
import ServiceClient

/// Allocations of the client and of the pipeline, per push, when everything that grows has grown.
struct AllocationScenario {
    private static let warmUpCount = Scale.of(50_000, small: 1_000)
    private static let count = Scale.of(100_000, small: 2_000)

    let bench: Workbench
    let report: Report

    /// Counts in a process in which allocations can be counted.
    func run() async throws {
        guard Allocations.count != nil else {
            throw BenchmarkFailure(description: "\(Allocations.libraryPath) was not loaded")
        }
        let simulator = try await bench.startSimulator(["--trusting", "--first-streams", "1000"])
        defer { simulator.kill() }
        let payload = try bench.payload(bytes: 180)
        let source = try ProviderTokenSource(
            key: bench.key, keyID: SimulatorProcess.keyID, teamID: SimulatorProcess.teamID)
        let run = ClientRun(
            bench: bench, port: simulator.port, anchor: "anchor.pem", payload: payload.bytes, source: source)
        let (client, load, _) = try run.start(connections: 1, window: 500)
        _ = await load.run(count: Self.warmUpCount)
        let before = Allocations.count ?? 0
        let accepted = await load.run(count: Self.count)
        let allocations = Double((Allocations.count ?? 0) - before) / Double(Self.count)
        await client.close()
        guard accepted == Self.count else {
            throw BenchmarkFailure(description: "only \(accepted) of \(Self.count) pushes were accepted")
        }
        report.add("allocations_per_push_client", allocations, "")
        try await PipelineScenario(bench: bench, report: report).countAllocations()
    }
}
