import PushTestKit
import Testing
import WorkerSimulation

/// The worker's own decisions, under faults, for a short time; `make simulate` does it for long.
@Suite("The simulation of workers")
struct PipelineSimulationTests {
    /// A run that has found something before.
    struct KeptSeed: CustomTestStringConvertible {
        let seed: UInt64
        let eventCount: Int
        var faults: [SimulatedFault]?
        /// The defect that the run found.
        let finding: String

        var testDescription: String { "seed \(seed): \(finding)" }
    }

    private static let keptSeeds: [KeptSeed] = [
        KeptSeed(seed: 5_753, eventCount: 4_000, finding: "a change with a short time to live stands for others"),
        KeptSeed(seed: 5_990, eventCount: 4_000, finding: "the answer to a push that was given up comes late"),
        KeptSeed(seed: 1_471, eventCount: 4_000, finding: "an event is published again after its end"),
    ]

    @Test("All promises are kept under faults", arguments: 1...5 as ClosedRange<UInt64>)
    func promisesAreKept(seed: UInt64) {
        let report = WorkerSimulation.play(SimulationOptions(seed: seed, eventCount: 1_500))
        #expect(report.violation == nil)
        #expect(report.counts.eventsEnded == 1_500)
    }

    @Test("All promises are kept while a backend is told of pushes", arguments: 6...9 as ClosedRange<UInt64>)
    func outcomesAreTold(seed: UInt64) {
        var options = SimulationOptions(seed: seed, eventCount: 1_500)
        options.tellsOutcomes = true
        let report = WorkerSimulation.play(options)
        #expect(report.violation == nil)
        #expect(report.counts.told > 0)
    }

    @Test("All promises are kept where one was broken once", arguments: keptSeeds)
    func keptSeedsPass(_ kept: KeptSeed) {
        let options = SimulationOptions(seed: kept.seed, eventCount: kept.eventCount, faults: kept.faults)
        #expect(WorkerSimulation.play(options).violation == nil)
    }

    @Test("Without faults each push is made once, and only what is broken becomes a dead letter")
    func nothingIsRepeatedWithoutFaults() {
        let report = WorkerSimulation.play(SimulationOptions(seed: 3, eventCount: 1_500, faults: []))
        #expect(report.violation == nil)
        #expect(report.counts.duplicates == 0)
        #expect(report.counts.pruned == 0)
    }
}

/// In another process sets and dictionaries have another order, on which no decision may depend.
@Suite("A simulation in two processes")
struct ReplayTests {
    @Test("The same seed makes the same decisions in every process")
    func seedsReplay() async throws {
        let folder = try TemporaryFolder()
        var digests: [Substring] = []
        for _ in 0..<2 {
            let result = try await CommandRunner.run(
                CommandRunner.path(of: "worker-simulation"), ["--seed", "1", "--runs", "3", "--events", "1000"],
                in: folder)
            #expect(result.exitCode == 0, "\(result.errors)")
            digests.append(result.errors[...])
        }
        let found = digests.map { $0.matches(of: /digest ([0-9a-f]+)/).map { String($0.output.1) } }
        #expect(found[0].count == 3)
        #expect(found[0] == found[1])
    }
}
