import APNsTransport
import ConnectionPool
import HTTP2
import Metrics
import Notifications
import PushTestKit
import ServiceClient
import Testing

@Suite("Client: traffic")
struct ClientTrafficTests {
    private let accepted = AttemptOutcome.answered(PushAnswer(status: 200))

    @Test("Thousands of pushes over several connections are each accepted once, with one provider token")
    func sendsManyPushes() async throws {
        let identifiers = Watched<[String]>([])
        var script = PeerScript()
        script.onRequest = { connection, request in
            identifiers.update { $0.append(request.identifier) }
            connection.answer(request)
        }
        let peer = try await ScriptedPeer(script)
        let fixture = try ClientFixture(peer) { $0.connections = 3 }
        for start in stride(from: 0, to: 5_000, by: 250) { fixture.send(start..<start + 250) }
        let results = await fixture.results.wait(count: 5_000)
        #expect(results.allSatisfy { $0.outcome == accepted })
        #expect(Set(results.map(\.identifier)) == Set(0..<5_000))
        #expect(Set(identifiers.value).count == 5_000)
        #expect(identifiers.value.count == 5_000)
        let facts = peer.facts.value
        #expect(facts.openMaximum <= 100)
        #expect(facts.authorizations.count == 1)
        #expect(fixture.metrics.render().contains(#"apus_apns_provider_tokens_minted_total{key_id="ABC123DEFG"} 1"#))
        await fixture.client.close()
        #expect(await peer.facts.wait { $0.openConnectionCount == 0 })
        #expect(fixture.results.results.value.count == 5_000)
        try await peer.stop()
    }

    @Test("A request has Apple's headers, lowercase identifiers, and the payload as its body")
    func writesTheHeaders() async throws {
        let seen = Watched<PeerRequest?>(nil)
        var script = PeerScript()
        script.onRequest = { connection, request in
            seen.update { $0 = request }
            connection.answer(request)
        }
        let peer = try await ScriptedPeer(script)
        let fixture = try ClientFixture(peer)
        fixture.send([0xabcdef])
        _ = await fixture.results.wait(count: 1)
        var headers = try #require(seen.value).headers
        #expect(headers.removeValue(forKey: "authorization")?.hasPrefix("bearer ") == true)
        #expect(
            headers == [
                ":method": "POST", ":scheme": "https", ":authority": "127.0.0.1:\(peer.port)",
                ":path": "/3/device/" + String(repeating: "0", count: 58) + "abcdef",
                "apns-topic": "com.example.chat", "apns-push-type": "alert", "apns-priority": "10",
                "apns-id": "12345678-9abc-4def-0000-000000abcdef", "apns-expiration": "1800000000",
                "apns-collapse-id": "c",
            ])
        #expect(seen.value?.body == ClientFixture.content.payload)
        await fixture.client.close()
        try await peer.stop()
    }

    @Test("A connection carries one request until the first answer that proves the token")
    func provesTheTokenFirst() async throws {
        var script = PeerScript()
        script.onRequest = { connection, request in
            // The first five are rejected for their token, which proves nothing.
            if connection.requestCount <= 5 {
                connection.reject(request, status: 403, reason: "InvalidProviderToken")
            } else if connection.requestCount == 6 {
                connection.answer(request)
            } else {
                connection.held.append(request)
                guard connection.held.count == 20 || connection.requestCount == 500 else { return }
                for request in connection.held { connection.answer(request) }
                connection.held = []
            }
        }
        let peer = try await ScriptedPeer(script)
        let fixture = try ClientFixture(peer) { $0.connections = 1 }
        fixture.send(0..<500)
        let results = await fixture.results.wait(count: 500)
        let refused = AttemptOutcome.answered(PushAnswer(status: 403, reason: "InvalidProviderToken"))
        #expect(results.count { $0.outcome == refused } == 5)
        #expect(results.count { $0.outcome == accepted } == 495)
        #expect(results.prefix(5).allSatisfy { $0.outcome == refused }, "one after the other")
        #expect(peer.facts.value.openBeforeFirstAnswerMaximum == 1)
        #expect(peer.facts.value.openMaximum > 1)
        await fixture.client.close()
        try await peer.stop()
    }

    @Test("SETTINGS in flight are obeyed, down to one stream and up again")
    func obeysSettings() async throws {
        var script = PeerScript()
        script.onRequest = { connection, request in
            if connection.requestCount == 200 { connection.http?.submitSettings(maxConcurrentStreams: 1) }
            if connection.requestCount == 400 { connection.http?.submitSettings(maxConcurrentStreams: 50) }
            connection.answer(request)
        }
        let peer = try await ScriptedPeer(script)
        let fixture = try ClientFixture(peer) { $0.connections = 1 }
        fixture.send(0..<2_000)
        let results = await fixture.results.wait(count: 2_000)
        #expect(results.count { $0.outcome == accepted } == 2_000)
        #expect(peer.facts.value.connectionCount == 1)
        await fixture.client.close()
        try await peer.stop()
    }

    @Test("A refused stream is sent again by itself, and reported as not processed when it is refused again and again")
    func resendsRefusedStreams() async throws {
        let attempts = Watched<[String: Int]>([:])
        var script = PeerScript()
        script.onRequest = { connection, request in
            attempts.update { $0[request.token, default: 0] += 1 }
            let attempt = attempts.value[request.token] ?? 0
            let isHopeless = request.token == ClientFixture.token(7)
            if isHopeless || attempt == 1 && request.stream > 1 {
                connection.reset(request, errorCode: 7)
            } else {
                connection.answer(request)
            }
        }
        let peer = try await ScriptedPeer(script)
        let fixture = try ClientFixture(peer) { $0.connections = 1 }
        fixture.send(0..<100)
        let results = await fixture.results.wait(count: 100)
        #expect(results.count { $0.outcome == accepted } == 99)
        #expect(fixture.results.outcome(7) == .notProcessed("APNs refused the stream"))
        #expect(attempts.value[ClientFixture.token(7)] == 4)
        await fixture.client.close()
        try await peer.stop()
    }

    @Test("Every status and reason is reported as it came, with or without a body that is JSON")
    func reportsEveryAnswer() async throws {
        let cases: [(status: Int, body: String, retryAfter: String?, answer: PushAnswer)] =
            [
                (400, #"{"reason":"BadDeviceToken"}"#, nil, PushAnswer(status: 400, reason: "BadDeviceToken")),
                (
                    410, #"{"reason":"Unregistered","timestamp":1454948015990}"#, nil,
                    PushAnswer(status: 410, reason: "Unregistered", deadSinceMilliseconds: 1_454_948_015_990)
                ),
                (
                    410, #"{"timestamp":"x","reason":"ExpiredToken"}"#, nil,
                    PushAnswer(status: 410, reason: "ExpiredToken")
                ),
                (
                    400, #"{"reason":"BadTopic","timestamp":5}"#, nil, PushAnswer(status: 400, reason: "BadTopic")
                ),
                (403, "", nil, PushAnswer(status: 403)),
                (413, "no JSON", nil, PushAnswer(status: 413, explanation: "no JSON")),
                (413, "[1]", nil, PushAnswer(status: 413)),
                (429, #"{"reason":17}"#, nil, PushAnswer(status: 429, explanation: #"{"reason":17}"#)),
                (
                    429, #"{"reason":"TooManyRequests"}"#, "30",
                    PushAnswer(status: 429, reason: "TooManyRequests", retryAfterSeconds: 30)
                ),
                (
                    503, #"{"reason":"Shutdown"}"#, "Wed, 21 Oct 2026 07:28:00 GMT",
                    PushAnswer(status: 503, reason: "Shutdown")
                ),
                (500, #"{"reason":"Brand\nNew Reason"}"#, nil, PushAnswer(status: 500, reason: "BrandNewReason")),
                (
                    500, String(repeating: "x", count: 10_000), nil,
                    PushAnswer(status: 500, explanation: "xxxxxxxx…")
                ),
                (
                    418, #"{"reason":"InternalServerError","#, nil,
                    PushAnswer(status: 418, explanation: #"{"reason":"InternalServerError","#)
                ),
            ]
            + [
                "BadCollapseId", "BadExpirationDate", "BadMessageId", "BadPriority", "DeviceTokenNotForTopic",
                "DuplicateHeaders", "IdleTimeout", "InvalidPushType", "MissingDeviceToken", "MissingTopic",
                "PayloadEmpty", "TopicDisallowed", "BadCertificate", "Forbidden", "BadPath", "MethodNotAllowed",
                "TooManyProviderTokenUpdates", "ServiceUnavailable",
            ].map { (400, "{\"reason\":\"\($0)\"}", nil, PushAnswer(status: 400, reason: $0)) }
        var script = PeerScript()
        script.onRequest = { connection, request in
            guard let number = Int(request.token, radix: 16), number > 0 else { return connection.answer(request) }
            let (status, body, retryAfter, _) = cases[number - 1]
            let fields = retryAfter.map { [("retry-after" as StaticString, $0)] } ?? []
            connection.answer(request, status: status, body: body, fields: fields)
        }
        let peer = try await ScriptedPeer(script)
        let fixture = try ClientFixture(peer)
        fixture.send(0...cases.count)
        _ = await fixture.results.wait(count: cases.count + 1)
        for (index, expected) in cases.enumerated() {
            #expect(fixture.results.outcome(UInt64(index + 1)) == .answered(expected.answer))
        }
        await fixture.client.close()
        try await peer.stop()
    }
}
