import APNsSimulator
import Testing

@testable import APNs

@Suite("Push client: cancelling and closing")
struct PushClientEndingTests {
    private static let silent = #"{"token":"ffff","answer":"silent"}"#

    /// Tokens that are not answered, but for one: its answer shows that those before it have arrived.
    private static func tokens(_ count: Int, answered: Int) throws -> [PushToken] {
        try (0..<count).map { try PushService.token($0 == answered ? 2 : 0xFFFF_0000 + $0) }
    }

    @Test("A cancelled call returns at once: what was in flight may have arrived, the rest certainly has not")
    func cancels() async throws {
        let service = try await PushService(script: Self.silent)
        let client = try service.client()
        let message = try PushMessage([.body("Hello")])
        // The first proves the provider token, so that the others are let out together.
        #expect(try await client.send(message, to: try PushService.token(1)).isAccepted)
        let tokens = try Self.tokens(5_000, answered: 900)
        let call = Task { try await client.send(message, to: tokens) }
        try await service.simulator.waitForAnswers(2)
        call.cancel()
        let results = try await call.value
        #expect(results.map(\.token) == tokens)
        let unsent = results.count { $0.outcome == .failed(.notProcessed("cancelled")) }
        let ambiguous = results.count { $0.outcome == .failed(.ambiguous("cancelled before the answer came")) }
        #expect((900...910).contains(unsent), "what the window of 4096 did not take")
        #expect(ambiguous + unsent >= 4_999)
        await client.close()
        _ = try await service.simulator.stop()
    }

    @Test("Leaving the loop over results sends to no more tokens")
    func leavesALoop() async throws {
        let service = try await PushService()
        let client = try service.client()
        let message = try PushMessage([.body("Hello")])
        let taken = Counter()
        for await _ in try client.results(of: message, to: CountedTokens(count: 1_000_000, taken: taken)) { break }
        #expect(taken.value <= 8_192)
        #expect(try await client.send(message, to: try PushService.token(1)).isAccepted)
        await client.close()
        _ = try await service.simulator.stop()
    }

    @Test("Results that are not read, or not to their end, leave nothing behind in the client")
    func forgetsResults() async throws {
        let service = try await PushService()
        let client = try service.client()
        let message = try PushMessage([.body("Hello")])
        let tokens = try (0..<10).map { try PushService.token($0) }
        for _ in 0..<100 { _ = try client.results(of: message, to: tokens) }
        for await _ in try client.results(of: message, to: tokens) { break }
        for await _ in try client.results(of: message, to: tokens) {}
        #expect(client.sender.jobs.count == 0)
        await client.close()
        _ = try await service.simulator.stop()
    }

    @Test("Closing gives every push its result, and what is sent afterwards is certainly not processed")
    func closes() async throws {
        let service = try await PushService(script: Self.silent)
        let client = try service.client()
        let message = try PushMessage([.body("Hello")])
        #expect(try await client.send(message, to: try PushService.token(1)).isAccepted)
        let tokens = try Self.tokens(2_000, answered: 900)
        let call = Task { try await client.send(message, to: tokens) }
        try await service.simulator.waitForAnswers(2)
        await client.close()
        let results = try await call.value
        #expect(results.map(\.token) == tokens)
        #expect(results.count { $0.isAccepted } == 1 && results.count { $0.isWorthRetrying } == 1_999)
        let late = try await client.send(message, to: try PushService.token(2))
        guard case .failed(.notProcessed) = late.outcome else {
            Issue.record("sent after the end: \(late)")
            return
        }
        _ = try await service.simulator.stop()
    }
}
