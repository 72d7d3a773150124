import Dispatch
import Dispatcher
import Notifications
import PushTestKit
import Testing

@Suite("A registry that does not answer", .timeLimit(.minutes(10)))
struct SlowRegistryTests {
    private static let accepted = AttemptOutcome.answered(PushAnswer(status: 200))

    private func waitForRequests(_ count: Int, _ bench: PipelineBench) async throws {
        try await eventually("\(count) requests") { bench.transport.requests.count == count }
    }

    /// A bench with a push under way, and an event whose look-up is not answered until the gate is signalled.
    private func heldBench() async throws -> (bench: PipelineBench, gate: DispatchSemaphore) {
        let bench = try PipelineBench(transport: FakeTransport { _, _ in nil })
        await bench.settledLoop()
        bench.broker.deliver([PipelineBench.push(1)])
        try await waitForRequests(1, bench)
        let gate = bench.holdLookUps()
        bench.broker.deliver([PipelineBench.push(2)])
        return (bench, gate)
    }

    @Test("Pushes under way end and are settled while a look-up is not answered, and readiness names the registry")
    func goesOn() async throws {
        let (bench, gate) = try await heldBench()
        bench.transport.answerAll(Self.accepted)
        await bench.broker.wait { $0.unacknowledgedCount == 1 }
        try await eventually("readiness to name the registry") {
            bench.dispatch.health.problems.contains { $0.contains("registry") }
        }
        #expect(bench.transport.requests.count == 1)
        gate.signal()
        try await waitForRequests(2, bench)
        bench.transport.answerAll(Self.accepted)
        await bench.broker.wait { $0.unacknowledgedCount == 0 }
        // A look-up that is answered within a second is the proof; on a busy machine the first may take longer.
        var count = 2
        try await eventually("readiness to name the registry no longer") {
            count += 1
            bench.broker.deliver([PipelineBench.push(count)])
            try await waitForRequests(count, bench)
            return bench.dispatch.health.problems.isEmpty
        }
        bench.stop()
    }

    @Test("A worker that is told to stop finishes what was begun, and does not wait for a look-up")
    func drains() async throws {
        let (bench, gate) = try await heldBench()
        async let outcome = bench.dispatch.drain(timeoutSeconds: 300)
        try await eventually("the drain to begin") { bench.dispatch.health.problems.contains("draining") }
        bench.transport.answerAll(Self.accepted)
        #expect(await outcome == .complete)
        #expect(bench.broker.unacknowledgedCount == 1, "what was not begun goes back to the broker")
        gate.signal()
        bench.stop()
    }
}
