import APNsTransport
import Foundation
import PushTestKit

/// aioapns, a sender in Python that many servers use, against the same simulator and beside our client.
struct PeerScenario {
    private static let peerCount = Scale.of(20_000, small: 500)
    private static let count = Scale.of(200_000, small: 2_000)

    let bench: Workbench
    let report: Report

    private struct Figures: Decodable {
        var pushesPerSecond: Double
        var cpuMicroseconds: Double
    }

    func run() async throws {
        let simulator = try await bench.startSimulator(["--trusting", "--first-streams", "1000"])
        defer { simulator.kill() }
        let result = try await bench.run(
            bench.options.peerPythonPath,
            [
                bench.options.peerScriptPath, "\(simulator.port)", bench.folder + "/anchor.pem",
                bench.folder + "/key.p8", SimulatorProcess.keyID, SimulatorProcess.teamID, Workbench.bundleID,
                ClientRun.token,
                "\(Self.peerCount)", "\(ClientScenario.streams)",
            ])
        guard result.exitCode == 0,
            let peer = try? JSONDecoder().decode(Figures.self, from: Data(result.output.utf8))
        else {
            throw BenchmarkFailure(
                description: "aioapns failed: run \(bench.options.peerScriptPath) by hand to see why")
        }
        let payload = try bench.payload(bytes: 200)
        let source = try ProviderTokenSource(
            key: bench.key, keyID: SimulatorProcess.keyID, teamID: SimulatorProcess.teamID)
        let ours = try await ClientRun(
            bench: bench, port: simulator.port, anchor: "anchor.pem", payload: payload.bytes, source: source
        ).measure(count: Self.count, connections: 1)
        report.add("cpu_per_push_beside_aioapns", ours.microseconds, "µs", reference: peer.cpuMicroseconds)
        report.add("pushes_per_second_beside_aioapns", ours.perSecond, "1/s", reference: peer.pushesPerSecond)
    }
}
