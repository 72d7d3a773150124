import APNsTransport
import ConnectionPool
import Metrics
import Notifications
import PushTestKit
import ServiceClient
import Testing

@Suite("Client: a peer that misbehaves at random")
struct ClientFaultTests {
    @Test(
        "Each push ends once, and truly: what is reported as not processed was not, and none is processed twice",
        arguments: (0..<4).map { _ in UInt64.random(in: 0...UInt64.max) })
    func tellsTheTruth(seed: UInt64) async throws {
        let faults = FaultScript(seed: seed)
        let peer = try await ScriptedPeer(faults.script)
        let fixture = try ClientFixture(peer) {
            $0.connections = 2
            $0.connectionsMaximum = 5
            $0.deadlineNanoseconds = 2_000_000_000
            $0.pressureNanoseconds = 1_000_000
            $0.shrinkIntervalNanoseconds = 20_000_000
            $0.growthPauseNanoseconds = 10_000_000
        }
        let count = 1_500
        for start in stride(from: 0, to: count, by: 100) { fixture.send(start..<start + 100) }
        _ = await fixture.results.wait(count: count)
        await fixture.client.close()
        let results = fixture.results.results.value
        #expect(results.count == count, "seed \(seed)")
        #expect(Set(results.map(\.identifier)).count == count, "seed \(seed)")
        let processed = faults.processed
        for result in results {
            let times = processed[ClientFixture.token(Int(result.identifier))] ?? 0
            switch result.outcome {
            case .answered: #expect(times == 1, "push \(result.identifier), seed \(seed)")
            case .notProcessed(let reason), .unreachable(let reason), .crowdedOut(let reason):
                #expect(times == 0, "push \(result.identifier) (\(reason)), seed \(seed)")
            case .ambiguous: #expect(times <= 1, "push \(result.identifier), seed \(seed)")
            }
        }
        #expect(results.count { if case .answered = $0.outcome { true } else { false } } > count / 20)
        #expect(faults.faultCount > 5, "few requests reached the peer, seed \(seed)")
        #expect(peer.facts.value.authorizations.count == 1, "one provider token")
        try await peer.stop()
    }
}
