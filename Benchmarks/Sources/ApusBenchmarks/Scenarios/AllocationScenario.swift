import APNsTransport
import Foundation
import Metrics
import PushCore

/// Allocations of the client and of the pipeline, per push, when everything that grows has grown.
struct AllocationScenario {
    private static let warmUpCount = 50_000
    private static let count = 100_000

    let bench: Workbench
    let report: Report

    /// Counts in a second run of this program, in which allocations can be counted.
    func run() async throws {
        guard Allocations.count == nil else { return try await count() }
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        var environment = ProcessInfo.processInfo.environment
        // The second run would start a third, and so on.
        guard environment["LD_PRELOAD"] != Allocations.libraryPath else {
            throw ChildProcess.Failure(description: "\(Allocations.libraryPath) cannot be loaded")
        }
        environment["LD_PRELOAD"] = Allocations.libraryPath
        let results = bench.folder + "/allocations.json"
        let child = try ChildProcess(
            program,
            [
                "--apus", bench.options.apusPath, "--bare-consumer", bench.options.bareConsumerPath, "--results",
                results, "allocations",
            ], environment: environment, errorFile: bench.folder + "/allocations.log")
        while child.readLine() != nil {}
        child.end()
        let data = try Data(contentsOf: URL(fileURLWithPath: results))
        for result in try JSONDecoder().decode([BenchmarkResult].self, from: data) {
            report.add(result.name, result.value, result.unit)
        }
    }

    private func count() async throws {
        let simulator = try bench.startSimulator(["--trusting", "--first-streams", "1000"])
        defer { simulator.process.end() }
        let payload = try bench.payload(bytes: 180)
        let source = try ProviderTokenSource(key: bench.key, keyID: Workbench.keyID, teamID: Workbench.teamID)
        let run = ClientRun(
            bench: bench, port: simulator.port, anchor: "anchor.pem", payload: payload.bytes, source: source)
        let (client, load, _) = try run.start(connections: 1, window: 500)
        _ = await load.run(count: Self.warmUpCount)
        let before = Allocations.count ?? 0
        let accepted = await load.run(count: Self.count)
        let allocations = Double((Allocations.count ?? 0) - before) / Double(Self.count)
        await client.close()
        guard accepted == Self.count else {
            throw ChildProcess.Failure(description: "only \(accepted) of \(Self.count) pushes were accepted")
        }
        report.add("allocations_per_push_client", allocations, "")
        try await PipelineScenario(bench: bench, report: report).countAllocations()
    }
}
