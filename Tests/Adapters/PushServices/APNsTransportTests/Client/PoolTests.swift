import APNsSimulator
import APNsTransport
import ConnectionPool
import HTTP2
import Metrics
import Notifications
import PushServiceSimulator
import PushTestKit
import ServiceClient
import Testing

@Suite("Client: how many connections")
struct PoolTests {
    private let accepted = AttemptOutcome.answered(PushAnswer(status: 200))

    @Test("With latency the pool grows until its streams carry what is sent", arguments: [25, 100])
    func growsWithLatency(milliseconds: Int) async throws {
        let world = try await SimulatorWorld(
            limits: {
                $0.connections = 1
                $0.connectionsMaximum = 6
                $0.growthPauseNanoseconds = 10_000_000
            },
            simulator: {
                $0.maxConcurrentStreams = 5
                $0.latency = .fixed(milliseconds: milliseconds)
            })
        world.fixture.send(0..<600)
        let results = await world.fixture.results.wait(count: 600)
        #expect(results.count { $0.outcome == accepted } == 600)
        #expect(await world.fixture.log.wait(for: "push.pool.grows", "streams"))
        let summary = try await world.end()
        #expect(summary.connections >= 2)
        #expect(summary.concurrentStreamsMaximum <= 5)
        #expect(summary.duplicates == 0)
    }

    @Test("A window that is opened slowly carries what fits into it, and the pool grows because of it")
    func obeysTheWindow() async throws {
        var script = PeerScript(windowBytes: 65_535, opensWindows: false)
        script.onRequest = { connection, request in
            connection.held.append(request)
            // Sixteen of these bodies fill the window: all that can come has come.
            guard connection.held.count == 16 || connection.requestCount == 1 else { return }
            for request in connection.held { connection.answer(request) }
            connection.http?.openConnectionWindow(bytes: Int32(4_000 * connection.held.count))
            connection.held = []
        }
        let peer = try await ScriptedPeer(script)
        let fixture = try ClientFixture(peer) {
            $0.connections = 1
            $0.connectionsMaximum = 4
            $0.pressureNanoseconds = 1_000_000
        }
        let payload = Array(#"{"aps":{"alert":""#.utf8) + [UInt8](repeating: 0x61, count: 3_980) + Array(#""}}"#.utf8)
        let content = PushContent(
            payload: payload, topic: "com.example.chat", pushType: .alert, priority: .immediate,
            expirationSeconds: nil, collapseID: nil)
        let requests = ClientFixture.requests(0..<1_001).map { request in
            var request = request
            request.content = content
            return request
        }
        #expect(payload.count == 4_000)
        fixture.client.send(requests)
        // The last few that do not fill a window are answered when the test says so.
        #expect(await fixture.log.wait(for: "push.pool.grows", "window"))
        _ = await fixture.results.results.wait { $0.count >= 900 }
        try await peer.onLoop { connections in
            for connection in connections { for request in connection.held { connection.answer(request) } }
        }
        #expect(peer.facts.value.openMaximum <= 16)
        #expect(fixture.results.results.value.allSatisfy { $0.outcome == accepted })
        await fixture.client.close()
        try await peer.stop()
    }

    @Test("A peer that never opens its window again costs no push: its connections are replaced")
    func replacesTheStarved() async throws {
        let peer = try await ScriptedPeer(PeerScript(windowBytes: 65_535, opensWindows: false))
        let fixture = try ClientFixture(peer) {
            $0.connections = 1
            $0.starvationNanoseconds = 1_000_000
        }
        // Each body is 26 bytes.
        fixture.send(0..<10_000)
        let results = await fixture.results.wait(count: 10_000)
        #expect(results.count { $0.outcome == accepted } == 10_000)
        #expect(peer.facts.value.connectionCount >= 4)
        #expect(
            !fixture.metrics.render().contains(
                #"apus_push_connections_evicted_total{service="apns",reason="window"} 0"#))
        await fixture.client.close()
        try await peer.stop()
    }

    @Test("Connections are spread over the addresses of a name, and one that is dead is passed over")
    func spreadsOverAddresses() async throws {
        let peer = try await ScriptedPeer()
        // `localhost` has two addresses on most machines, and the peer listens on the one of version 4 only.
        let fixture = try ClientFixture(
            port: peer.port, trustAnchorsFile: peer.trustAnchorsFile, host: "localhost",
            limits: { $0.connections = 4 })
        fixture.send(0..<100)
        let results = await fixture.results.wait(count: 100)
        #expect(results.allSatisfy { $0.outcome == accepted })
        #expect(await peer.facts.wait { $0.connectionCount == 4 })
        await fixture.client.close()
        try await peer.stop()
    }

    @Test("Tokens that were rejected lately travel apart, so the others keep their streams")
    func quarantines() async throws {
        let connectionsUsed = Watched<Set<String>>([])
        let isHolding = Watched(false)
        var script = PeerScript()
        script.onRequest = { connection, request in
            let isBad = (Int(request.token, radix: 16) ?? 0) % 2 == 1
            connectionsUsed.update { $0.insert("\(isBad ? "bad" : "good") on \(connection.number)") }
            if isBad {
                // As APNs does: a rejection costs the connection its streams.
                connection.http?.submitSettings(maxConcurrentStreams: 1)
                return connection.reject(request, status: 400, reason: "BadDeviceToken")
            }
            connection.http?.submitSettings(maxConcurrentStreams: 100)
            guard isHolding.value else { return connection.answer(request) }
            connection.held.append(request)
            guard connection.held.count == 20 else { return }
            for request in connection.held { connection.answer(request) }
            connection.held = []
        }
        let peer = try await ScriptedPeer(script)
        let fixture = try ClientFixture(peer) { $0.connections = 1 }
        fixture.send(0..<41)
        _ = await fixture.results.wait(count: 41)
        #expect(peer.facts.value.connectionCount == 1)
        connectionsUsed.update { $0 = [] }
        isHolding.update { $0 = true }

        // From now on every bad token goes to the other connection, and the good ones travel twenty at a time: the peer
        // answers none before it has so many.
        fixture.send(0..<40)
        let results = await fixture.results.wait(count: 81)
        #expect(results.count { $0.outcome == accepted } == 41)
        #expect(connectionsUsed.value == ["good on 0", "bad on 1"])
        #expect(fixture.metrics.render().contains(#"apus_push_quarantined_total{service="apns"} 20"#))
        await fixture.client.close()
        try await peer.stop()
    }
}
