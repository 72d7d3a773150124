import PushTestKit
import RegistryAPI
import RegistryCore
import TestTraits
import Testing

@Suite("CloudKit Web Services in a browser", .ownThread)
struct CloudKitBrowserTests {
    private static let list = "/database/1/iCloud.com.example.chat/production/public/subscriptions/list"
    private static let page = "https://www.example.com"

    private func send(
        _ fixture: RegistryFixture, _ method: String, _ target: String, _ fields: [String] = []
    ) -> PlainHTTP.Answer {
        let own = ["\(method) \(target) HTTP/1.1", "Host: localhost", "Connection: close", "Content-Length: 0"]
        let head = own + fields
        return PlainHTTP.exchange(head.joined(separator: "\r\n") + "\r\n\r\n", fixture.server.port)
    }

    private func preflight(_ fixture: RegistryFixture, _ target: String, origin: String) -> PlainHTTP.Answer {
        send(
            fixture, "OPTIONS", target,
            [
                "Origin: \(origin)", "Access-Control-Request-Method: POST",
                "Access-Control-Request-Headers: authorization,content-type",
            ])
    }

    @Test("A page of an allowed origin may ask, and read answers and errors")
    func allowed() throws {
        let fixture = try RegistryFixture { $0.allowedOrigins = [Self.page, "http://localhost:3000"] }
        defer { fixture.server.stop() }
        let token = try NativeClient.token(fixture)
        let paths =
            [Self.list] + ["database", "device"].map { "/\($0)/1/iCloud.com.example.chat/production/tokens/create" }
        for path in paths {
            let answer = preflight(fixture, path, origin: Self.page)
            #expect(answer.status == 204 && answer.headers["access-control-allow-origin"] == Self.page, "\(answer)")
            #expect(answer.headers["access-control-allow-methods"]?.contains("POST") == true)
            #expect(answer.headers["access-control-allow-headers"] == "Authorization, Content-Type, *")
            #expect(answer.headers["access-control-max-age"] == "600" && answer.headers["vary"] == "Origin")
        }
        let query = "?ckAPIToken=\(token)&ckWebAuthToken=mei"
        let cases = [
            (Self.list + query, 200), (Self.list, 401), (Self.list + "?ckAPIToken=\(token)", 421),
            (Self.list + "/more" + query, 404), ("/database" + query, 404),
        ]
        for (target, status) in cases {
            let answer = send(fixture, "GET", target, ["Origin: \(Self.page)"])
            #expect(answer.status == status, "\(answer)")
            #expect(answer.headers["access-control-allow-origin"] == Self.page, "\(answer)")
            #expect(answer.headers["vary"] == "Origin")
        }
        let posted = send(fixture, "PUT", Self.list + query, ["Origin: http://localhost:3000"])
        #expect(posted.status == 405 && posted.headers["access-control-allow-origin"] == "http://localhost:3000")
    }

    @Test(
        "A page of another origin is told nothing",
        arguments: [[], ["https://www.example.com"]],
        ["https://evil.example", "null", "https://www.example.com.evil.example", "http://www.example.com"])
    func others(allowed: [String], origin: String) throws {
        let fixture = try RegistryFixture { $0.allowedOrigins = allowed }
        defer { fixture.server.stop() }
        let token = try NativeClient.token(fixture)
        let asked = preflight(fixture, Self.list, origin: origin)
        #expect(asked.status == 403 && asked.body.contains("ACCESS_DENIED"), "\(asked)")
        let answer = send(
            fixture, "GET", "\(Self.list)?ckAPIToken=\(token)&ckWebAuthToken=mei", ["Origin: \(origin)"])
        #expect(answer.status == 200)
        for answer in [asked, answer] {
            #expect(answer.headers["access-control-allow-origin"] == nil, "\(answer)")
            #expect(answer.headers["vary"] == (allowed.isEmpty ? nil : "Origin"))
        }
    }

    @Test(
        "What the server refuses before it asks who sends it can be read by a page of an allowed origin, too",
        arguments: [
            ("\(list)?%zz", "Host: localhost", 400), (list, "Host: localhost\r\nExpect: tea", 417),
            (list, "Host: localhost\r\nTransfer-Encoding: gzip", 501), (list, "Host: other.example", 421),
            ("/database/none", "Host: localhost\r\nTransfer-Encoding: chunked\r\n\r\nffffff", 413),
        ])
    func refusedByTheServer(target: String, rest: String, status: Int) throws {
        let fixture = try RegistryFixture { $0.allowedOrigins = [Self.page] }
        defer { fixture.server.stop() }
        for (origin, allowed) in [(Self.page, Self.page), ("https://evil.example", nil)] {
            let answer = PlainHTTP.exchange(
                "POST \(target) HTTP/1.1\r\nConnection: close\r\nOrigin: \(origin)\r\n\(rest)\r\n\r\n",
                fixture.server.port)
            #expect(answer.status == status, "\(answer)")
            #expect(answer.headers["access-control-allow-origin"] == allowed, "\(answer)")
            #expect(answer.headers["access-control-expose-headers"] == allowed.map { _ in "Retry-After" })
            #expect(answer.headers["vary"] == "Origin")
        }
    }

    @Test("Every page may ask where every origin is allowed, and who is no page may, too")
    func everyOrigin() throws {
        let fixture = try RegistryFixture { $0.allowedOrigins = ["*"] }
        defer { fixture.server.stop() }
        let answer = preflight(fixture, Self.list, origin: "https://evil.example")
        #expect(answer.status == 204 && answer.headers["access-control-allow-origin"] == "*")
        let plain = send(fixture, "OPTIONS", Self.list)
        #expect(plain.status == 204 && plain.headers["allow"] == "GET, POST, OPTIONS")
    }

    @Test("Every page may ask before it fetches notifications")
    func courier() throws {
        let fixture = try RegistryFixture()
        defer { fixture.server.stop() }
        let answer = preflight(fixture, "/courier/anything", origin: "https://evil.example")
        #expect(answer.status == 204 && answer.headers["access-control-allow-origin"] == "*", "\(answer)")
        #expect(answer.headers["access-control-allow-methods"] == "GET")
        #expect(answer.headers["access-control-allow-headers"] == "*")
        let refused = PlainHTTP.exchange(
            "GET /courier/anything HTTP/1.1\r\nHost: localhost\r\nOrigin: \(Self.page)\r\nExpect: tea\r\n\r\n",
            fixture.server.port)
        for answer in [send(fixture, "GET", "/courier/anything", ["Origin: \(Self.page)"]), refused] {
            #expect(answer.status == 404 || answer.status == 417, "\(answer)")
            #expect(answer.headers["access-control-allow-origin"] == "*", "\(answer)")
            #expect(answer.headers["access-control-expose-headers"] == "Retry-After", "\(answer)")
        }
    }

    @Test("Several tokens or users that differ are refused, and the same one twice is one")
    func severalTokens() throws {
        let fixture = try RegistryFixture()
        defer { fixture.server.stop() }
        let token = try NativeClient.token(fixture)
        let reader = try NativeClient.token(fixture, permission: .read)
        func list(_ query: String, _ fields: [String] = []) -> PlainHTTP.Answer {
            send(fixture, "GET", "\(Self.list)?\(query)", fields)
        }
        let user = "ckWebAuthToken=mei"
        let header = ["Authorization: Bearer \(token)"]
        for query in [user, "\(user)&ckAPIToken=\(token)", "\(user)&\(user)&ckAPIToken=\(token)&ckAPIToken=\(token)"] {
            #expect(list(query, header).status == 200, "\(query)")
        }
        for (query, fields) in [
            ("\(user)&ckAPIToken=\(reader)", header), ("\(user)&ckAPIToken=wrong", header),
            ("\(user)&ckAPIToken=\(token)&ckAPIToken=\(reader)", []), ("\(user)&ckWebAuthToken=bob", header),
            (user, header + ["Authorization: Bearer \(reader)"]), (user, header + header),
        ] {
            let answer = list(query, fields)
            #expect(answer.status == 400 && answer.body.contains("BAD_REQUEST"), "\(query): \(answer)")
        }
        #expect(list(user).status == 401)
    }
}
