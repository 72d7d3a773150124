import HTTPClient
import HTTPServer
import PushTestKit
import Testing

@Suite("Many POSTs over HTTP/1.1")
struct MultiClientTests {
    @Test("A request comes as it was described, and its answer whole")
    func asks() async throws {
        try await MultiClientFixture.run { fixture in
            let answer = try await fixture.answer(fixture.request("/a%2Fb/../c?d=e"))
            let text = String(decoding: answer.body, as: UTF8.self)
            #expect(answer.status == 200)
            #expect(text.hasPrefix("POST /a%2Fb/../c\n"))
            for field in ["x-test: 1", "content-length: 7", "user-agent: apus"] { #expect(text.contains(field)) }
            #expect(!text.contains("expect"))
            #expect(fixture.served.value.bodies == ["content"])
        }
    }

    @Test("A connection is used again")
    func reuses() async throws {
        try await MultiClientFixture.run { fixture in
            let first = try await fixture.answer(fixture.request("/1"))
            let second = try await fixture.answer(fixture.request("/2"))
            #expect(first.isOnNewConnection)
            #expect(!second.isOnNewConnection)
        }
    }

    @Test("An answer has the header fields that were asked for, and how long to wait")
    func fields() async throws {
        try await MultiClientFixture.run { fixture in
            let answer = try await fixture.answer(fixture.request("/slow-down"))
            #expect(answer.status == 429)
            #expect(answer.field("x-kept") == "yes")
            #expect(answer.field("x-other") == nil)
            #expect(answer.retryAfterSeconds(nowSeconds: 0) == 7)
            #expect(String(decoding: answer.body, as: UTF8.self) == "later")
        }
    }

    @Test("A destination without TLS is spoken to in the clear, and one with TLS never is")
    func unencrypted() async throws {
        try await MultiClientFixture.run { fixture in
            let configuration = HTTPServerConfiguration(
                name: "a plain server", settingName: "test.listen", host: "127.0.0.1", port: 0)
            let server = try HTTPServer(configuration: configuration, handler: PlainHandler())
            defer { server.stop() }
            var destination = fixture.destination(host: "127.0.0.1", port: server.port)
            #expect(await fixture.post(fixture.request("/a", to: destination)).notSentKind == .tls)
            destination.isEncrypted = false
            #expect(try await fixture.answer(fixture.request("/a", to: destination)).status == 204)
        }
    }

    private struct PlainHandler: HTTPHandler {
        func answer(_ request: HTTPRequest) -> HTTPAnswer { .now(HTTPResponse(status: 204, fields: [], body: [])) }
    }

    @Test("A redirect is an answer")
    func redirect() async throws {
        try await MultiClientFixture.run { fixture in
            let answer = try await fixture.answer(fixture.request("/moved"))
            #expect(answer.status == 302)
            #expect(fixture.served.value.paths == ["/moved"])
        }
    }

    @Test("Of a body that is too long the beginning is kept")
    func longBody() async throws {
        try await MultiClientFixture.run { fixture in
            let answer = try await fixture.answer(fixture.request("/long"))
            #expect(answer.status == 200)
            #expect(answer.body.count == PostAnswer.bodyBytesMaximum)
        }
    }

    @Test("A large body is sent whole")
    func largeBody() async throws {
        try await MultiClientFixture.run { fixture in
            let body = String(repeating: "0123456789abcdef", count: 4_000)
            let answer = try await fixture.answer(fixture.request("/1", body: body))
            #expect(answer.status == 200)
            #expect(fixture.served.value.bodies == [body])
        }
    }

    @Test("As many connections to a host are made as are allowed, and every request is answered once")
    func limit() async throws {
        var limits = HTTPMultiClient.Limits()
        limits.connectionsPerHostMaximum = 4
        try await MultiClientFixture.run(limits) { fixture in
            let proxy = try await FaultProxy.start(to: fixture.server.port)
            let destination = fixture.destination(port: proxy.port)
            try await withThrowingTaskGroup(of: Int.self) { group in
                for index in 0..<100 {
                    group.addTask { try await fixture.answer(fixture.request("/\(index)", to: destination)).status }
                }
                for try await status in group { #expect(status == 200) }
            }
            #expect(Set(fixture.served.value.paths).count == 100)
            #expect(fixture.served.value.paths.count == 100)
            #expect(proxy.record.value.connectionCount <= 4)
            try await proxy.stop()
        }
    }

    @Test("Through a proxy, which gets the credentials and the server does not")
    func throughProxy() async throws {
        try await MultiClientFixture.run { fixture in
            let proxy = try await ConnectProxy.start(.tunnel(authorization: "Basic YTpi"))
            let stranger = PostProxy(host: "127.0.0.1", port: proxy.port)
            let refused = await fixture.post(fixture.request("/0", to: fixture.destination(proxy: stranger)))
            #expect(refused.notSentKind != nil)
            let way = PostProxy(host: "127.0.0.1", port: proxy.port, authorization: "Basic YTpi")
            let answer = try await fixture.answer(
                fixture.request("/1", to: fixture.destination(proxy: way)))
            #expect(answer.status == 200)
            #expect(!String(decoding: answer.body, as: UTF8.self).contains("YTpi"))
            #expect(fixture.served.value.paths == ["/1"])
            #expect(proxy.requests.value.count == 2)
            for head in proxy.requests.value {
                #expect(head.contains("CONNECT localhost:\(fixture.server.port)"))
                #expect(!head.lowercased().contains("x-test"))
            }
            try await proxy.stop()
        }
    }

    @Test("Only an address that is admitted is connected to, and the next one if it is not")
    func admittedAddresses() async throws {
        try await MultiClientFixture.run { fixture in
            let asked = Watched<Set<[UInt8]>>([])
            let some = fixture.destination { address in
                asked.update { $0.insert(address) }
                return address == [127, 0, 0, 1]
            }
            let answer = try await fixture.answer(fixture.request("/1", to: some))
            #expect(answer.status == 200)
            #expect(asked.value.contains([127, 0, 0, 1]))
            for host in ["127.0.0.1", "::1"] {
                let none = fixture.destination(host: host) { _ in false }
                let outcome = await fixture.post(fixture.request("/2", to: none))
                guard case .notSent(let failure) = outcome else {
                    Issue.record("\(outcome)")
                    continue
                }
                #expect(failure.kind == .unreachable)
                #expect(failure.description == "no address of the name may be connected to")
                #expect(await fixture.probe(none)?.kind == .unreachable)
            }
            #expect(fixture.served.value.paths == ["/1"])
        }
    }

    @Test("A probe connects, and sends nothing")
    func probes() async throws {
        try await MultiClientFixture.run { fixture in
            let proxy = try await FaultProxy.start(to: fixture.server.port)
            #expect(await fixture.probe(fixture.destination(port: proxy.port)) == nil)
            #expect(await fixture.probe(fixture.destination(port: proxy.port)) == nil)
            #expect(await proxy.record.wait { $0.endedCount == 2 })
            #expect(fixture.served.value.paths.isEmpty)
            let answer = try await fixture.answer(
                fixture.request("/1", to: fixture.destination(port: proxy.port)))
            #expect(answer.status == 200)
            var foreign = fixture.destination()
            foreign.caFile = ""
            #expect(await fixture.probe(foreign)?.kind == .certificateRejected)
            let port = try FreePorts.find(1)[0]
            #expect(await fixture.probe(fixture.destination(port: port))?.kind == .unreachable)
            try await proxy.stop()
        }
    }
}
