import Dispatcher
import Glibc
import Notifications
import PushCore
import PushTestKit
import Testing

@Suite("A registry that does not answer", .timeLimit(.minutes(10)))
struct SlowRegistryTests {
    /// A pipe whose reader waits until the test writes.
    private struct Gate {
        let ends: [Int32]

        init() {
            var ends: [Int32] = [0, 0]
            precondition(pipe(&ends) == 0, "a pipe can be made")
            self.ends = ends
        }

        var reader: Int32 { ends[0] }

        func open() { _ = write(ends[1], [0], 1) }

        func close() { for end in ends { Glibc.close(end) } }
    }

    private static let accepted = PushOutcome.answered(PushAnswer(status: 200))

    private func waitForRequests(_ count: Int, _ bench: PipelineBench) async throws {
        try await eventually("\(count) requests") { bench.transport.requests.count == count }
    }

    @Test("Pushes under way end and are settled while a look-up is not answered, and readiness names the registry")
    func goesOn() async throws {
        let gate = Gate()
        defer { gate.close() }
        let bench = try PipelineBench(transport: FakeTransport { _, _ in nil })
        await bench.settledLoop()
        bench.broker.deliver([PipelineBench.push(1)])
        try await waitForRequests(1, bench)
        bench.holdLookUps(untilRead: gate.reader)
        bench.broker.deliver([PipelineBench.push(2)])
        bench.transport.answerAll(Self.accepted)
        await bench.broker.wait { $0.unacknowledgedCount == 1 }
        try await eventually("readiness to name the registry") {
            bench.dispatch.health.problems.contains { $0.contains("registry") }
        }
        #expect(bench.transport.requests.count == 1)
        gate.open()
        try await waitForRequests(2, bench)
        bench.transport.answerAll(Self.accepted)
        await bench.broker.wait { $0.unacknowledgedCount == 0 }
        bench.broker.deliver([PipelineBench.push(3)])
        try await waitForRequests(3, bench)
        #expect(bench.dispatch.health.problems.isEmpty)
        bench.stop()
    }

    @Test("A worker that is told to stop finishes what was begun, and does not wait for a look-up")
    func drains() async throws {
        let gate = Gate()
        defer { gate.close() }
        let bench = try PipelineBench(transport: FakeTransport { _, _ in nil })
        await bench.settledLoop()
        bench.broker.deliver([PipelineBench.push(1)])
        try await waitForRequests(1, bench)
        bench.holdLookUps(untilRead: gate.reader)
        bench.broker.deliver([PipelineBench.push(2)])
        async let outcome = bench.dispatch.drain(timeoutSeconds: 300)
        try await eventually("the drain to begin") { bench.dispatch.health.problems.contains("draining") }
        bench.transport.answerAll(Self.accepted)
        #expect(await outcome == .complete)
        #expect(bench.broker.unacknowledgedCount == 1, "what was not begun goes back to the broker")
        gate.open()
        bench.stop()
    }
}
