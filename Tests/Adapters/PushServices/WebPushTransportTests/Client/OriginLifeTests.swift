import Notifications
import PushTestKit
import Testing

@testable import WebPushTransport

@Suite("Origins that come, go and fail, over real connections", .timeLimit(.minutes(5)))
struct OriginLifeTests {
    private static let accepted = [AttemptOutcome.answered(PushAnswer(status: 200))]

    @Test("An origin makes room for another one, and comes back")
    func takesTurns() async throws {
        let services = [try await BrowserService(), try await BrowserService()]
        let (client, collector) = try WebPushClientTests.client(services[0]) { configuration in
            configuration.originsMaximum = 1
            // Both services have a certificate of their own; which of them is asked shows in the outcome.
            configuration.extraTrustAnchorsFile = services[0].trustAnchorsFile
        }
        let usual = try services[0].token("/push")
        let other = try services[1].token("/push")
        for turn in 0..<6 {
            client.send([try WebPushClientTests.request(turn, turn.isMultiple(of: 2) ? usual : other)])
            let outcomes = await collector.wait(count: turn + 1)
            let outcome = outcomes[UInt64(turn)]
            if turn.isMultiple(of: 2) {
                #expect(outcome == Self.accepted)
            } else {
                #expect(outcome?.count == 1 && outcome?.first?.isNotProcessed == true)
            }
        }
        #expect(services[0].deliveries.value.count == 3 && services[1].deliveries.value.isEmpty)
        await client.close()
        for service in services { try await service.stop() }
    }

    @Test("An origin where nobody listens takes nothing from another one")
    func oneIsDown() async throws {
        let service = try await BrowserService()
        let (client, collector) = try WebPushClientTests.client(service)
        let good = try #require(try service.token("/push"))
        let gone = try await BrowserService()
        let bad = try gone.token("/push")
        try await gone.stop()
        client.send(
            try (0..<1_000).map { try WebPushClientTests.request($0, $0.isMultiple(of: 2) ? good : bad) })
        _ = await collector.outcomes.wait { $0.count { $0.key.isMultiple(of: 2) } >= 500 }
        // The others may still wait for their service.
        await client.close()
        let outcomes = await collector.wait(count: 1_000)
        for (number, outcome) in outcomes {
            if number.isMultiple(of: 2) {
                #expect(outcome == Self.accepted)
            } else {
                #expect(outcome.count == 1 && outcome.first?.isNotProcessed == true, "\(outcome)")
            }
        }
        try await service.stop()
    }

    @Test("Pushes beyond what may wait for encryption end as not processed, and the others are sent")
    func encryptionIsBounded() async throws {
        let service = try await BrowserService()
        let (client, collector) = try WebPushClientTests.client(service) { $0.encryptionWaitingMaximum = 10 }
        let token = try service.token("/push")
        client.send(try (0..<100).map { try WebPushClientTests.request($0, token) })
        let outcomes = await collector.wait(count: 100)
        let sent = outcomes.values.count { $0 == Self.accepted }
        let refused = outcomes.values.count { $0 == [.notProcessed("too many pushes wait for encryption")] }
        #expect(sent >= 10 && refused > 0 && sent + refused == 100)
        await client.close()
        try await service.stop()
    }
}

extension AttemptOutcome {
    fileprivate var isNotProcessed: Bool { if case .notProcessed = self { true } else { false } }
}
