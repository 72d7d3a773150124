import Crypto
import EventLoop
import Glibc
import PushTestKit
import TestTraits
import Testing

@testable import HTTPServer

@Suite("The limits of the HTTP server", .ownThread)
struct HTTPServerLimitTests {
    private static let request = "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"

    private let handler = EchoHandler()

    private func start(_ change: (inout HTTPServerConfiguration) -> Void = { _ in }) throws -> HTTPServer {
        var configuration = HTTPServerConfiguration(
            name: "the test server", settingName: "test.listen", host: "127.0.0.1", port: 0)
        change(&configuration)
        return try HTTPServer(configuration: configuration, handler: handler)
    }

    /// Connections that have sent the beginning of something.
    private func clients(_ count: Int, _ server: HTTPServer, sending text: String, from source: String? = nil)
        -> [Int32]
    {
        (0..<count).map { _ in
            let client = PlainHTTP.connect(server.port, from: source)
            var bufferBytes: Int32 = 64 * 1_024
            setsockopt(client, SOL_SOCKET, SO_RCVBUF, &bufferBytes, socklen_t(MemoryLayout<Int32>.size))
            PlainHTTP.write(text, to: client)
            return client
        }
    }

    private func close(_ clients: [Int32]) { for client in clients { Glibc.close(client) } }

    // MARK: Connections

    @Test("Heads that do not end give way to a new connection when all places are taken")
    func slowHeadsGiveWay() throws {
        let server = try start { $0.connectionsMaximum = 8 }
        defer { server.stop() }
        let slow = clients(40, server, sending: "GET / HTTP/1.1\r\nX")
        defer { close(slow) }
        for _ in 0..<4 { #expect(PlainHTTP.exchange(Self.request, server.port).status == 200) }
    }

    @Test("Connections that wait for their next request give way at once")
    func idleGiveWay() throws {
        let server = try start { $0.connectionsMaximum = 4 }
        defer { server.stop() }
        let idle = (0..<4).map { _ in
            let client = PlainHTTP.connect(server.port)
            PlainHTTP.write("GET / HTTP/1.1\r\nHost: h\r\n\r\n", to: client)
            var byte: UInt8 = 0
            #expect(recv(client, &byte, 1, 0) == 1)
            return client
        }
        defer { close(idle) }
        #expect(PlainHTTP.exchange(Self.request, server.port).status == 200)
    }

    @Test("An address has its share of the connections, and the others have theirs")
    func shares() async throws {
        let server = try start {
            $0.connectionsPerAddressMaximum = 2
            $0.trustedProxies = ["127.0.0.3"]
        }
        defer { server.stop() }
        let waiting = "GET /held HTTP/1.1\r\nHost: h\r\n\r\n"
        let busy = clients(2, server, sending: waiting)
        defer { close(busy) }
        try await handler.waitForRequests(2)
        let refused = PlainHTTP.exchange(Self.request, server.port)
        #expect(refused.status == 503)
        #expect(refused.headers["retry-after"] == "1")
        #expect(PlainHTTP.exchange(Self.request, server.port, from: "127.0.0.2").status == 200)
        let proxy = clients(5, server, sending: waiting, from: "127.0.0.3")
        defer { close(proxy) }
        try await handler.waitForRequests(7)
        handler.release()
    }

    @Test("At the limit of an address its oldest idle connection gives way, and no other's")
    func idleOfAddressGivesWay() throws {
        let server = try start {
            $0.connectionsPerAddressMaximum = 2
            $0.idleSecondsMaximum = 300
        }
        defer { server.stop() }
        let keptAlive = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
        let idle = ["127.0.0.2", "127.0.0.1", "127.0.0.1"].map { source in
            let client = PlainHTTP.connect(server.port, from: source)
            PlainHTTP.write(keptAlive, to: client)
            var byte: UInt8 = 0
            #expect(recv(client, &byte, 1, Int32(MSG_PEEK)) == 1)
            return client
        }
        defer { close(idle) }
        #expect(PlainHTTP.exchange(Self.request, server.port, from: "127.0.0.1").status == 200)
        let hasSecondAnswer = idle.map { client in
            PlainHTTP.write(Self.request, to: client)
            return PlainHTTP.readToEnd(client).body.contains("HTTP/1.1 200 OK")
        }
        #expect(hasSecondAnswer == [true, false, true])
    }

    @Test("A head that does not end in time is 408, and one that never begins is closed", arguments: ["GET /", ""])
    func slowHead(text: String) throws {
        let server = try start { $0.headSecondsMaximum = 1 }
        defer { server.stop() }
        #expect(PlainHTTP.exchange(text, server.port).status == (text.isEmpty ? 0 : 408))
    }

    @Test("The first half of an address of IPv6 counts, and an address of IPv4 counts as such")
    func addresses() {
        #expect(ClientAddress("2001:db8::1").share == ClientAddress("2001:db8::ffff:1").share)
        #expect(ClientAddress("2001:db8::1").share != ClientAddress("2001:db8:0:1::1").share)
        #expect(ClientAddress("::ffff:192.0.2.1") == ClientAddress("192.0.2.1"))
        #expect(ClientAddress("fe80::1%eth0").share == ClientAddress("fe80::2").share)
    }

    @Test("A trusted proxy says for whom it asks, and nobody else does")
    func forwarded() throws {
        let server = try start { $0.trustedProxies = ["127.0.0.3"] }
        defer { server.stop() }
        func address(_ field: String, from source: String) -> String {
            let lines = PlainHTTP.exchange(
                "GET / HTTP/1.1\r\nHost: h\r\n\(field)\r\nConnection: close\r\n\r\n", server.port, from: source
            ).body.split(separator: "\n", omittingEmptySubsequences: false)
            return lines.count > 5 ? String(lines[5]) : ""
        }
        #expect(address("X-Forwarded-For: 192.0.2.9, 192.0.2.1", from: "127.0.0.3") == "192.0.2.1")
        #expect(
            address("X-Forwarded-For: 192.0.2.9\r\nX-Forwarded-For: 2001:db8::1", from: "127.0.0.3") == "2001:db8::1")
        #expect(address("X-Forwarded-For: unknown", from: "127.0.0.3") == "127.0.0.3")
        #expect(address("X-Forwarded-For: 192.0.2.1", from: "127.0.0.2") == "127.0.0.2")
    }

    // MARK: Memory

    @Test("When bodies take too much memory, the slowest is 503, and one that comes at once is served")
    func bodies() async throws {
        let server = try start {
            $0.bodyBytesMaximum = 60_000
            $0.bodyBytesInMemoryMaximum = 100_000
        }
        defer { server.stop() }
        let head = "PUT / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 50000\r\n\r\n"
        let part = String(repeating: "x", count: 49_999)
        let slow = clients(2, server, sending: head + part)
        defer { close(slow) }
        try await eventually("both bodies", equals: 2 * part.utf8.count) { try await server.memory().bodyBytes }
        #expect(PlainHTTP.exchange(head + part + "x", server.port).status == 200)
        PlainHTTP.write("x", to: slow[1])
        let statuses = slow.map { PlainHTTP.readToEnd($0).status }
        #expect(statuses.sorted() == [200, 503])
    }

    @Test("When answers that nobody reads take too much memory, the slowest reader is closed")
    func answers() throws {
        let server = try start {
            $0.bodyBytesMaximum = 16 << 20
            $0.answerBytesInMemoryMaximum = 20 << 20
        }
        defer { server.stop() }
        let count = 16 << 20
        let head = "PUT / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: \(count)\r\n\r\n"
        // The echo is as long as the body; the kernel takes at most a quarter of it for a client that does not read.
        let slow = clients(2, server, sending: head + String(repeating: "x", count: count))
        defer { close(slow) }
        // Both have begun, or one was closed before this thread came to look.
        var byte: UInt8 = 0
        _ = recv(slow[1], &byte, 1, Int32(MSG_PEEK))
        let isWhole = slow.map { PlainHTTP.readToEnd($0).body.utf8.count > count }
        #expect(isWhole.filter(\.self).count == 1)
    }

    @Test("What is counted of bodies comes and goes with them, whoever gives way")
    func accounting() async throws {
        let server = try start {
            $0.bodyBytesMaximum = 60_000
            $0.bodyBytesInMemoryMaximum = 90_000
        }
        defer { server.stop() }
        let count = 40_000
        func request(_ path: String, _ bytes: Int) -> String {
            "PUT \(path) HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: \(count)\r\n\r\n"
                + String(repeating: "x", count: bytes)
        }
        let waiting = clients(2, server, sending: request("/later", count))
        defer { close(waiting) }
        try await handler.waitForRequests(2)
        try await eventually("the bodies of what waits", equals: 2 * count) { try await server.memory().bodyBytes }
        // No other connection is in the middle of a body, so the server ends the new one.
        #expect(PlainHTTP.exchange(request("/", count - 1), server.port).status == 503)
        handler.release()
        #expect(waiting.map { PlainHTTP.readToEnd($0).status } == [200, 200])
        try await eventually("no memory to be held", equals: HTTPServerMemory()) { try await server.memory() }
    }

    @Test("Only readiness that somebody acts on is asked for")
    func readiness() {
        #expect(HTTPReadiness().events == [])
        #expect(HTTPReadiness(wantsInput: true).events == .readable)
        #expect(HTTPReadiness(writeIsBlocked: true).events == .writable)
        #expect(HTTPReadiness(wantsInput: true, readWantsWrite: true).events == .writable)
        #expect(HTTPReadiness(writeWantsRead: true).events == .readable)
        #expect(HTTPReadiness(wantsInput: true, watchesPeer: true).events == [.readable, .peerClosed])
    }

    @Test("A trusted proxy is known in each form of its address")
    func forms() {
        #expect(ClientAddress("2001:DB8:0::7").text == "2001:db8::7")
        #expect(ClientAddress("::ffff:c000:201").text == "192.0.2.1")
        #expect(ClientAddress("fe80::1%eth0").text == "fe80::1")
        #expect(ClientAddress("192.0.2.1").text == "192.0.2.1" && ClientAddress("").text.isEmpty)
    }

    // MARK: Hosts

    @Test(
        "Only the hosts that are served get an answer, and addresses in numbers",
        arguments: [
            ("GET / HTTP/1.1\r\nHost: Push.Example.com:8080\r\n", 200), ("GET / HTTP/1.1\r\nHost: localhost\r\n", 200),
            ("GET / HTTP/1.1\r\nHost: 127.0.0.1:9\r\n", 200), ("GET / HTTP/1.1\r\nHost: [::1]\r\n", 200),
            ("GET / HTTP/1.1\r\nHost: evil.example\r\n", 421),
            ("GET / HTTP/1.1\r\nHost: push.example.com.evil.example\r\n", 421),
            ("PUT / HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 3\r\n", 421), ("GET / HTTP/1.0\r\n", 200),
            ("GET http://push.example.com/ HTTP/1.1\r\nHost: push.example.com\r\n", 200),
            ("GET https://push.example.com?a HTTP/1.1\r\nHost: push.example.com\r\n", 200),
            ("GET http://push.example.com/ HTTP/1.1\r\nHost: localhost\r\n", 400),
            ("GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n", 421),
            ("GET ftp://push.example.com/ HTTP/1.1\r\nHost: push.example.com\r\n", 400),
        ])
    func hosts(head: String, status: Int) throws {
        let server = try start { $0.hosts = .names(["push.example.com"]) }
        defer { server.stop() }
        #expect(PlainHTTP.exchange("\(head)Connection: close\r\n\r\n", server.port).status == status)
    }

    // MARK: Certificates

    @Test("A renewed certificate is shown to the next client, and one that does not serve changes nothing")
    func renewal() async throws {
        let identities = try (0..<2).map { _ in
            try ServerIdentity.selfSigned(
                names: ["localhost"], notBeforeSeconds: 1_600_000_000, notAfterSeconds: 4_000_000_000)
        }
        let server = try start { $0.identity = identities[0] }
        defer { server.stop() }
        try server.replace(identity: identities[1])
        let broken = ServerIdentity(
            certificateChainPEM: identities[0].certificateChainPEM, privateKeyPEM: identities[1].privateKeyPEM)
        #expect(throws: HTTPServerError.self) { try server.replace(identity: broken) }
        let folder = try TemporaryFolder()
        try folder.write("anchor.pem", identities[1].certificateChainPEM)
        let script = """
            import http.client, ssl, sys
            context = ssl.create_default_context(cafile="anchor.pem")
            connection = http.client.HTTPSConnection("localhost", int(sys.argv[1]), context=context)
            for path in ("/a", "/b"):
                connection.request("PUT", path, body=b"x" * 50000)
                answer = connection.getresponse()
                print(answer.status, len(answer.read()) > 50000)
            """
        let result = try await CommandRunner.run(
            "/usr/bin/python3", ["-c", script, "\(server.port)"], in: folder)
        #expect(result.output == "200 True\n200 True\n", "\(result.errors)")
    }

    @Test("TLS 1.2 without an authenticated cipher is refused", arguments: ["AES128-SHA", "ECDHE-ECDSA-AES128-SHA"])
    func oldCiphers(cipher: String) async throws {
        let identity = try ServerIdentity.selfSigned(
            names: ["localhost"], notBeforeSeconds: 1_600_000_000, notAfterSeconds: 4_000_000_000)
        let server = try start { $0.identity = identity }
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let result = try await CommandRunner.run(
            "/usr/bin/openssl",
            ["s_client", "-connect", "127.0.0.1:\(server.port)", "-tls1_2", "-cipher", "\(cipher):@SECLEVEL=0"],
            in: folder)
        #expect(result.exitCode != 0, "\(result.output)")
    }
}
