import HTTPClient
import HTTPServer
import PushTestKit
import Testing

@Suite("POSTs over HTTP/1.1 that fail")
struct MultiClientFailureTests {
    @Test("Where nobody listens, nothing was sent")
    func unreachable() async throws {
        try await MultiClientFixture.run { fixture in
            let port = try FreePorts.find(1)[0]
            let outcome = await fixture.post(fixture.request("/1", to: fixture.destination(port: port)))
            #expect(outcome.notSentKind == .unreachable)
        }
    }

    @Test("To a server that is not trusted, nothing is sent")
    func untrusted() async throws {
        try await MultiClientFixture.run { fixture in
            var destination = fixture.destination()
            destination.caFile = ""
            #expect(await fixture.post(fixture.request("/1", to: destination)).notSentKind == .certificateRejected)
            #expect(fixture.served.value.paths.isEmpty)
        }
    }

    @Test("A request that is answered too late may have been processed")
    func silence() async throws {
        try await MultiClientFixture.run { fixture in
            let outcome = await fixture.post(fixture.request("/hold", timeoutSeconds: 0.5))
            #expect(outcome.ambiguousKind == .timedOut)
            #expect(fixture.served.value.paths == ["/hold"])
        }
    }

    @Test("A request that has waited too long for a connection was not sent")
    func waitsInVain() async throws {
        var limits = HTTPMultiClient.Limits()
        limits.connectionsPerHostMaximum = 1
        try await MultiClientFixture.run(limits) { fixture in
            async let first = fixture.post(fixture.request("/hold"))
            try await fixture.waitForHeld(1)
            let second = await fixture.post(fixture.request("/2", timeoutSeconds: 0.2))
            #expect(second.notSentKind == .timedOut)
            fixture.answerHeld()
            guard case .answered = await first else {
                Issue.record("the request before it has no answer")
                return
            }
            // The connection still serves the next.
            let third = try await fixture.answer(fixture.request("/3"))
            #expect(third.status == 200)
            #expect(fixture.served.value.paths == ["/hold", "/3"])
        }
    }

    @Test("A used connection that is lost under a request makes it ambiguous, and it is not sent again")
    func lostOnUsedConnection() async throws {
        try await MultiClientFixture.run { fixture in
            let proxy = try await FaultProxy.start(to: fixture.server.port)
            let destination = fixture.destination(port: proxy.port)
            let first = try await fixture.answer(fixture.request("/1", to: destination))
            #expect(first.status == 200)
            async let lost = fixture.post(fixture.request("/hold", to: destination))
            try await fixture.waitForHeld(1)
            try await proxy.resetAll()
            #expect(await lost.ambiguousKind == .connectionLost)
            #expect(fixture.served.value.paths == ["/1", "/hold"])
            try await proxy.stop()
        }
    }

    @Test("A new connection that is lost under a request makes it ambiguous")
    func lostOnNewConnection() async throws {
        try await MultiClientFixture.run { fixture in
            let proxy = try await FaultProxy.start(to: fixture.server.port)
            async let lost = fixture.post(fixture.request("/hold", to: fixture.destination(port: proxy.port)))
            try await fixture.waitForHeld(1)
            try await proxy.resetAll()
            #expect(await lost.ambiguousKind == .connectionLost)
            try await proxy.stop()
        }
    }

    @Test("A connection that hangs in the handshake sends nothing")
    func handshakeHangs() async throws {
        try await MultiClientFixture.run { fixture in
            let proxy = try await FaultProxy.start(to: fixture.server.port)
            try await proxy.setConditions(.silent([.toClient], .swallowed))
            let outcome = await fixture.post(
                fixture.request("/1", to: fixture.destination(port: proxy.port), timeoutSeconds: 0.5))
            #expect(outcome.notSentKind == .timedOut)
            try await proxy.stop()
        }
    }

    @Test("Closing ends what is under way: ambiguous if it was sent, and not sent if it waited")
    func closes() async throws {
        var limits = HTTPMultiClient.Limits()
        limits.connectionsPerHostMaximum = 1
        try await MultiClientFixture.run(limits) { fixture in
            async let sent = fixture.post(fixture.request("/hold"))
            try await fixture.waitForHeld(1)
            async let waiting = fixture.post(fixture.request("/2"))
            try await eventually("both requests are under way") { try await fixture.requestCount() == 2 }
            try await fixture.closeClient()
            #expect(await sent.ambiguousKind == .closed)
            #expect(await waiting.notSentKind == .closed)
            #expect(await fixture.post(fixture.request("/3")).notSentKind == .closed)
        }
    }

    @Test(
        "What cannot be sent is refused before libcurl sees it",
        arguments: ["no-slash", "/a b", "/a\r\nX-Evil: 1", "/a#b", "/ü", ""])
    func badPath(_ path: String) async throws {
        try await MultiClientFixture.run { fixture in
            #expect(await fixture.post(fixture.request(path)).notSentKind == .requestInvalid)
        }
    }

    @Test(
        "A host that could be read as something else is refused",
        arguments: ["", "a@b", "a/b", "a b", "a?b", "a#b", "a\\b", "%61", "[::1]", "a\r\nb"])
    func badHost(_ host: String) async throws {
        try await MultiClientFixture.run { fixture in
            for destination in [
                fixture.destination(host: host),
                fixture.destination(proxy: PostProxy(host: host, port: 1)),
            ] {
                #expect(await fixture.post(fixture.request("/1", to: destination)).notSentKind == .requestInvalid)
            }
        }
    }

    @Test("A header field that would begin another, and a request without a body, are refused")
    func badFields() async throws {
        try await MultiClientFixture.run { fixture in
            var request = fixture.request("/1")
            request.fields = [("X-Test", "1\r\nX-Evil: 1")]
            #expect(await fixture.post(request).notSentKind == .requestInvalid)
            request.fields = [("X Test", "1")]
            #expect(await fixture.post(request).notSentKind == .requestInvalid)
            #expect(await fixture.post(fixture.request("/1", body: "")).notSentKind == .requestInvalid)
        }
    }
}
