import APNsTransport
import ConnectionPool
import Crypto
import HTTP2
import Metrics
import Notifications
import PushTestKit
import ServiceClient
import Testing

@Suite("Client: connections that end")
struct ClientConnectionTests {
    private let accepted = AttemptOutcome.answered(PushAnswer(status: 200))

    @Test("A GOAWAY in the middle of a burst loses no push and sends none twice that was processed")
    func survivesGoAway() async throws {
        let processed = Watched<[String: Int]>([:])
        var script = PeerScript()
        script.onRequest = { connection, request in
            if connection.requestCount == 100 {
                // The requests until now are processed; this request and all after it are not.
                connection.http?.goAway(
                    lastStreamID: request.stream - 2, errorCode: 0,
                    debugData: Array(#"{"reason":"Shutdown"}"#.utf8))
            }
            guard connection.requestCount < 100 else { return }
            processed.update { $0[request.token, default: 0] += 1 }
            connection.answer(request)
        }
        let peer = try await ScriptedPeer(script)
        let fixture = try ClientFixture(peer)
        fixture.send(0..<3_000)
        let results = await fixture.results.wait(count: 3_000)
        #expect(results.count { $0.outcome == accepted } == 3_000)
        #expect(processed.value.count == 3_000)
        #expect(processed.value.values.allSatisfy { $0 == 1 })
        #expect(peer.facts.value.connectionCount > 20)
        #expect(await fixture.log.wait(for: "push.connection.goaway", "Shutdown"))
        await fixture.client.close()
        try await peer.stop()
    }

    @Test("A token that is never answered meets its deadline, which frees its stream, and the others go on")
    func freesTheStreamAtTheDeadline() async throws {
        var script = PeerScript(streamsMaximum: 2)
        script.onRequest = { connection, request in
            if request.token != ClientFixture.token(5) { connection.answer(request) }
        }
        let peer = try await ScriptedPeer(script)
        let fixture = try ClientFixture(peer) {
            $0.connections = 1
            $0.deadlineNanoseconds = 2_000_000_000
        }
        fixture.send(0..<20)
        _ = await fixture.results.wait(count: 20)
        #expect(fixture.results.outcome(5) == .ambiguous("no answer in time"))
        #expect(await peer.facts.wait { $0.resetCodes == [8] })
        #expect(fixture.results.results.value.count { $0.outcome == accepted } == 19)
        #expect(peer.facts.value.connectionCount == 1)
        await fixture.client.close()
        try await peer.stop()
    }

    @Test("A connection that is cut leaves its unanswered pushes ambiguous, and another takes over")
    func reconnectsAfterACut() async throws {
        var script = PeerScript()
        script.onRequest = { connection, request in
            if connection.number == 0, connection.requestCount > 50 {
                // The first connection falls silent, and ends when it is full.
                if connection.open.count == 100 { connection.http?.close() }
            } else {
                connection.answer(request)
            }
        }
        let peer = try await ScriptedPeer(script)
        let fixture = try ClientFixture(peer) { $0.connections = 1 }
        fixture.send(0..<500)
        let results = await fixture.results.wait(count: 500)
        let lost = AttemptOutcome.ambiguous("the connection was lost after the request was written")
        #expect(results.count { $0.outcome == lost } + results.count { $0.outcome == accepted } == 500)
        #expect(results.count { $0.outcome == accepted } >= 400)
        #expect(peer.facts.value.connectionCount == 2)
        await fixture.client.close()
        try await peer.stop()
    }

    @Test("An expired provider token is replaced when it is old enough, and so is its connection")
    func replacesAnExpiredToken() async throws {
        let clock = Watched<Int64>(1_800_000_000)
        var script = PeerScript()
        script.onRequest = { connection, request in
            // A connection on which a token has expired refuses newer ones as well.
            if connection.number == 0, connection.requestCount > 10 {
                connection.reject(request, status: 403, reason: "ExpiredProviderToken")
            } else {
                connection.answer(request)
            }
        }
        let peer = try await ScriptedPeer(script)
        let fixture = try ClientFixture(
            port: peer.port, trustAnchorsFile: peer.trustAnchorsFile,
            limits: { $0.connections = 1 },
            clock: { .init(wallSeconds: clock.value, monotonicNanoseconds: UInt64(clock.value) * 1_000_000_000) })
        fixture.send(0..<10)
        _ = await fixture.results.wait(count: 10)
        clock.update { $0 += 1_500 }
        fixture.send(10..<20)
        let results = await fixture.results.wait(count: 20)
        #expect(results.allSatisfy { $0.outcome == accepted }, "what was refused is sent again")
        #expect(peer.facts.value.authorizations.count == 2)
        #expect(peer.facts.value.connectionCount == 2)
        await fixture.client.close()
        try await peer.stop()
    }

    @Test("A peer that vanishes without a word is found out by a PING, given up, and costs a bounded time")
    func evictsAHalfOpenConnection() async throws {
        let peer = try await ScriptedPeer()
        let proxy = try await ConnectProxy.start(.tunnelTo(port: peer.port))
        let fixture = try ClientFixture(
            port: peer.port, trustAnchorsFile: peer.trustAnchorsFile,
            limits: {
                $0.connections = 1
                $0.deadlineNanoseconds = 1_000_000_000
                $0.pingTimeoutNanoseconds = 300_000_000
            }, proxy: HTTPProxy(host: "127.0.0.1", port: proxy.port))
        fixture.send(0..<10)
        _ = await fixture.results.wait(count: 10)
        try await proxy.freeze()
        fixture.send(10..<20)
        _ = await fixture.results.wait(count: 20)
        #expect((10..<20).allSatisfy { fixture.results.outcome(UInt64($0)) == .ambiguous("no answer in time") })
        #expect(await fixture.log.wait(for: "push.connection.lost", "no answer to a PING"))
        // The next pushes find a new connection, which is not frozen.
        #expect(await peer.facts.wait { $0.connectionCount == 2 })
        fixture.send(20..<30)
        _ = await fixture.results.wait(count: 30)
        #expect((20..<30).allSatisfy { fixture.results.outcome(UInt64($0)) == accepted })
        #expect(
            fixture.metrics.render().contains(
                #"apus_push_connections_evicted_total{service="apns",reason="silent"} 1"#))
        await fixture.client.close()
        try await proxy.stop()
        try await peer.stop()
    }

    @Test("An endpoint that cannot be reached opens the circuit; pushes wait, and go out when it is back")
    func waitsForTheEndpoint() async throws {
        let peer = try await ScriptedPeer()
        let proxy = try await ConnectProxy.start(.close)
        let fixture = try ClientFixture(
            port: peer.port, trustAnchorsFile: peer.trustAnchorsFile, limits: { $0.connections = 2 },
            proxy: HTTPProxy(host: "127.0.0.1", port: proxy.port))
        fixture.send(0..<50)
        #expect(await fixture.log.wait(for: "push.circuit.open"))
        // The metric follows at the end of the tick.
        try await eventually("the metric of an open circuit") {
            fixture.metrics.render().contains(#"apus_push_open_circuits{service="apns"} 1"#)
        }
        #expect(fixture.results.results.value.isEmpty)
        try await proxy.behave(.tunnelTo(port: peer.port))
        let results = await fixture.results.wait(count: 50)
        #expect(results.count { $0.outcome == accepted } == 50)
        await fixture.client.close()
        #expect(fixture.metrics.render().contains(#"apus_push_open_circuits{service="apns"} 0"#))
        try await proxy.stop()
        try await peer.stop()
    }

    @Test("A connection that goes on to refuse a good provider token is replaced, and no push is the worse for it")
    func replacesAWedgedConnection() async throws {
        var script = PeerScript()
        script.onRequest = { connection, request in
            if connection.number == 0, connection.requestCount > 10 {
                connection.reject(request, status: 403, reason: "ExpiredProviderToken")
            } else {
                connection.answer(request)
            }
        }
        let peer = try await ScriptedPeer(script)
        let fixture = try ClientFixture(peer) { $0.connections = 1 }
        fixture.send(0..<200)
        let results = await fixture.results.wait(count: 200)
        #expect(results.allSatisfy { $0.outcome == accepted })
        #expect(peer.facts.value.authorizations.count == 1, "the token is too young to be replaced")
        #expect(peer.facts.value.connectionCount == 2)
        await fixture.client.close()
        try await peer.stop()
    }

    @Test("A server that answers Shutdown is left: its pushes go to another connection")
    func leavesAServerThatShutsDown() async throws {
        var script = PeerScript()
        script.onRequest = { connection, request in
            if connection.number == 0, connection.requestCount > 20 {
                connection.reject(request, status: 503, reason: "Shutdown")
            } else {
                connection.answer(request)
            }
        }
        let peer = try await ScriptedPeer(script)
        let fixture = try ClientFixture(peer) { $0.connections = 1 }
        fixture.send(0..<300)
        let results = await fixture.results.wait(count: 300)
        #expect(results.allSatisfy { $0.outcome == accepted })
        #expect(peer.facts.value.connectionCount == 2)
        await fixture.client.close()
        try await peer.stop()
    }

    @Test("A server that always answers Shutdown costs few connections, and each push says so in the end")
    func boundsConnectionsToAServerThatShutsDown() async throws {
        var script = PeerScript()
        script.onRequest = { $0.reject($1, status: 503, reason: "Shutdown") }
        let peer = try await ScriptedPeer(script)
        let fixture = try ClientFixture(peer) { $0.connections = 1 }
        fixture.send(0..<10)
        let results = await fixture.results.wait(count: 10)
        let shutdown = AttemptOutcome.answered(PushAnswer(status: 503, reason: "Shutdown"))
        #expect(results.allSatisfy { $0.outcome == shutdown })
        #expect(peer.facts.value.connectionCount <= 41)
        await fixture.client.close()
        try await peer.stop()
    }

    @Test("A connection that is not for the origin (421) is left: its pushes go to another connection")
    func leavesAMisdirectedConnection() async throws {
        var script = PeerScript()
        script.onRequest = { connection, request in
            if connection.number == 0 { connection.answer(request, status: 421) } else { connection.answer(request) }
        }
        let peer = try await ScriptedPeer(script)
        let fixture = try ClientFixture(peer) { $0.connections = 1 }
        fixture.send(0..<50)
        let results = await fixture.results.wait(count: 50)
        #expect(results.allSatisfy { $0.outcome == accepted })
        #expect(peer.facts.value.connectionCount == 2)
        await fixture.client.close()
        try await peer.stop()
    }

    @Test("A connection that is throttled for provider tokens is replaced; one that never accepted a push is kept")
    func replacesAThrottledConnection() async throws {
        for worksAtFirst in [true, false] {
            var script = PeerScript()
            script.onRequest = { connection, request in
                if connection.number == 0, connection.requestCount > 10 || !worksAtFirst {
                    connection.reject(request, status: 429, reason: "TooManyProviderTokenUpdates")
                } else {
                    connection.answer(request)
                }
            }
            let peer = try await ScriptedPeer(script)
            let fixture = try ClientFixture(peer) { $0.connections = 1 }
            for count in stride(from: 10, through: 60, by: 10) {
                fixture.send(count - 10..<count)
                _ = await fixture.results.wait(count: count)
            }
            let throttled = AttemptOutcome.answered(PushAnswer(status: 429, reason: "TooManyProviderTokenUpdates"))
            let results = fixture.results.results.value
            #expect(results.count { $0.outcome == throttled } == (worksAtFirst ? 10 : 60))
            #expect(peer.facts.value.connectionCount == (worksAtFirst ? 2 : 1))
            #expect(peer.facts.value.authorizations.count == 1, "the token is kept")
            await fixture.client.close()
            try await peer.stop()
        }
    }

    @Test("A provider token that is refused from the beginning is reported, and its connection is kept")
    func reportsATokenThatNeverWorked() async throws {
        var script = PeerScript()
        script.onRequest = { $0.reject($1, status: 403, reason: "ExpiredProviderToken") }
        let peer = try await ScriptedPeer(script)
        let fixture = try ClientFixture(peer) { $0.connections = 1 }
        fixture.send(0..<5)
        let results = await fixture.results.wait(count: 5)
        let refused = AttemptOutcome.answered(PushAnswer(status: 403, reason: "ExpiredProviderToken"))
        #expect(results.allSatisfy { $0.outcome == refused })
        #expect(peer.facts.value.connectionCount == 1)
        #expect(peer.facts.value.authorizations.count == 1)
        await fixture.client.close()
        try await peer.stop()
    }

    @Test("A new signing key goes out on new connections only")
    func replacesConnectionsWithTheKey() async throws {
        let seen = Watched<[Int: Set<String>]>([:])
        var script = PeerScript()
        script.onRequest = { connection, request in
            let authorization = request.headers["authorization"] ?? ""
            seen.update { $0[connection.number, default: []].insert(authorization) }
            connection.answer(request)
        }
        let peer = try await ScriptedPeer(script)
        let fixture = try ClientFixture(peer) { $0.connections = 1 }
        fixture.send(0..<10)
        _ = await fixture.results.wait(count: 10)
        #expect(try fixture.tokenSource.replaceKey(ES256PrivateKey.generate(), keyID: "NEWKEY1234"))
        var count = 10
        while peer.facts.value.connectionCount < 2, count < 100_000 {
            // The client looks for a new token once a second.
            fixture.send(count..<count + 10)
            count += 10
            _ = await fixture.results.wait(count: count)
        }
        #expect(fixture.results.results.value.allSatisfy { $0.outcome == accepted })
        #expect(seen.value.count == 2)
        #expect(seen.value.values.allSatisfy { $0.count == 1 })
        await fixture.client.close()
        try await peer.stop()
    }

    @Test("Closing ends what waits as not processed and what is in flight as ambiguous, each once")
    func closesWithPushesOutstanding() async throws {
        var script = PeerScript(streamsMaximum: 3)
        script.onRequest = { connection, request in if connection.requestCount <= 2 { connection.answer(request) } }
        let peer = try await ScriptedPeer(script)
        let fixture = try ClientFixture(peer) {
            $0.connections = 1
        }
        fixture.send(0..<10)
        #expect(await peer.facts.wait { $0.requestCount == 5 })
        await fixture.client.close()
        fixture.send(10..<12)
        let results = fixture.results.results.value
        #expect(results.count == 12)
        #expect(results.count { $0.outcome == accepted } == 2)
        #expect(results.count { $0.outcome == .ambiguous("the transport closed before the answer came") } == 3)
        #expect(results.count { $0.outcome == .notProcessed("the transport is closing") } == 5)
        #expect(results.count { $0.outcome == .notProcessed("the transport is closed") } == 2)
        await fixture.client.close()
        try await peer.stop()
    }
}
