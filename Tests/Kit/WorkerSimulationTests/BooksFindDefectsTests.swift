import Testing

@testable import WorkerSimulation

/// The models and the books, with a worker that is simple enough to be obviously right, and with its defects.
@Suite("The books of the simulation find defects")
struct BooksFindDefectsTests {
    private func play<Flaw: Defective>(
        _ flaw: Flaw.Type, seed: UInt64, events: Int = 1_500, faults: [SimulatedFault]? = nil
    ) -> SimulationReport {
        var options = SimulationOptions(seed: seed, eventCount: events, faults: faults)
        // It does not keep the order of counts, and so does not promise it.
        options.hasDeletions = true
        return Simulation<CarefulWorker<Flaw>>(options).run()
    }

    /// The faults that the simple worker bears: it is not fair to apps, and does not know the meaning of most
    /// answers of APNs.
    private static let bearable: [SimulatedFault] = [
        .kill, .drain, .consumer, .publisher, .confirms, .nack, .leader, .registryDown, .registryFailover, .answers,
        .clock, .devices, .twice,
    ]

    @Test("A worker without defects keeps all promises under faults", arguments: [1, 2, 3, 4] as [UInt64])
    func soundWorkerKeepsPromises(seed: UInt64) {
        let report = play(Sound.self, seed: seed, faults: Self.bearable)
        #expect(report.violation == nil)
        #expect(report.counts.accepted > 0)
    }

    @Test("Without faults nothing is pushed twice, and nothing becomes a dead letter but what is broken")
    func nothingIsRepeatedWithoutFaults() {
        let report = play(Sound.self, seed: 5, faults: [])
        #expect(report.violation == nil)
        #expect(report.counts.duplicates == 0)
        #expect(report.counts.accepted + report.counts.claimed + report.counts.expired == report.counts.expected)
    }

    @Test("The same seed gives the same run, another one another")
    func seedsReplay() {
        let first = play(Sound.self, seed: 9, faults: Self.bearable)
        let second = play(Sound.self, seed: 9, faults: Self.bearable)
        #expect(first.digest == second.digest)
        #expect(first.steps == second.steps)
        #expect(first.digest != play(Sound.self, seed: 10, faults: Self.bearable).digest)
    }

    private func finds<Flaw: Defective>(_ flaw: Flaw.Type, faults: [SimulatedFault]) -> Violation.Promise? {
        for seed in 1...8 as ClosedRange<UInt64> {
            if let violation = play(flaw, seed: seed, faults: faults).violation { return violation.promise }
        }
        return nil
    }

    @Test("A delivery that is settled before its pushes ended")
    func earlySettling() { #expect(finds(SettlesBeforeAnswers.self, faults: []) == .settledLast) }

    @Test("A delivery that is settled before its requeued copy is confirmed")
    func earlyParking() {
        #expect(finds(SettlesBeforeConfirms.self, faults: [.answers, .publisher, .kill, .throttled]) == .eventEnds)
    }

    @Test("A copy that the broker refused and no worker publishes again")
    func refusedCopy() {
        #expect(finds(TakesRefusedForConfirmed.self, faults: [.answers, .throttled, .nack]) == .eventEnds)
    }

    @Test("A push that failed and is not tried again")
    func forgottenFailure() { #expect(finds(ForgetsFailures.self, faults: [.throttled]) == .eventEnds) }

    @Test("A delivery that is settled twice")
    func doubleSettling() { #expect(finds(SettlesTwice.self, faults: []) == .tagsAreKnown) }

    @Test("A device that is removed though the push service serves it")
    func pruning() { #expect(finds(PrunesWhatIsRejected.self, faults: [.environment]) == .devicesStay) }

    @Test("A device that is left out")
    func leftOut() { #expect(finds(LeavesOutADevice.self, faults: []) == .eventEnds) }

    @Test("A push that a backend is not told of")
    func untold() {
        var options = SimulationOptions(seed: 1, eventCount: 300, faults: [])
        options.tellsOutcomes = true
        #expect(Simulation<CarefulWorker<Sound>>(options).run().violation?.promise == .outcomesAreTold)
    }

    @Test("A push that no event asks for")
    func strangers() { #expect(finds(PushesToStrangers.self, faults: []) == .pushAskedFor) }

    @Test("An event that waits for ever because the registry failed once")
    func forgottenEvent() { #expect(finds(ForgetsTheRegistry.self, faults: [.registryDown]) != nil) }

    @Test("An app that waits though it is served well")
    func starvation() { #expect(finds(NeglectsAnApp.self, faults: []) == .noAppStarves) }
}
