import Crypto
import Dispatch
import Glibc
import PushTestKit
import TestTraits
import Testing

@testable import HTTPServer

@Suite("The HTTP server", .ownThread)
struct HTTPServerTests {
    private let handler = EchoHandler()

    private func start(_ change: (inout HTTPServerConfiguration) -> Void = { _ in }) throws -> HTTPServer {
        var configuration = HTTPServerConfiguration(
            name: "the test server", settingName: "test.listen", host: "127.0.0.1", port: 0)
        change(&configuration)
        return try HTTPServer(configuration: configuration, handler: handler)
    }

    private func ask(_ server: HTTPServer, _ text: String) -> PlainHTTP.Answer {
        PlainHTTP.exchange(text, server.port)
    }

    @Test("A handler sees method, path, query, fields, body and address")
    func requestIsWhole() throws {
        let server = try start()
        defer { server.stop() }
        let answer = ask(
            server,
            "PATCH /a%2Fb/c?x=%31 HTTP/1.1\r\nHost: h\r\nX-ONE:  two \r\nContent-Length: 3\r\n"
                + "Connection: close\r\n\r\nabc"
        )
        #expect(answer.status == 200)
        #expect(answer.body == "PATCH\n/a%2Fb/c\na/b|c\nx=1\ntwo\n127.0.0.1\n3abc")
        #expect(answer.headers["cache-control"] == "no-store")
    }

    @Test("A field that occurs twice has no value of its own")
    func repeatedField() throws {
        let server = try start()
        defer { server.stop() }
        let answer = ask(
            server, "GET / HTTP/1.1\r\nHost: h\r\nX-One: a\r\nx-one: b\r\nConnection: close\r\n\r\n")
        #expect(answer.body.contains("\n-\n"))
    }

    @Test("A body may come in chunks, up to the limit")
    func chunkedBody() throws {
        let server = try start { $0.bodyBytesMaximum = 8 }
        defer { server.stop() }
        let head = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        #expect(ask(server, head + "5\r\nhello\r\n3\r\nabc\r\n0\r\n\r\n").body.hasSuffix("8helloabc"))
        #expect(ask(server, head + "5\r\nhello\r\n4\r\nabcd\r\n0\r\n\r\n").status == 413)
    }

    @Test(
        "A body that is too long is 413, whether it is a little too long or far", arguments: [9, 100_000, 50_000_000])
    func bodyTooLong(count: Int) throws {
        let server = try start { $0.bodyBytesMaximum = 8 }
        defer { server.stop() }
        let body = String(repeating: "x", count: min(count, 100_000))
        let answer = ask(
            server, "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: \(count)\r\nConnection: close\r\n\r\n\(body)")
        #expect(answer.status == 413)
        #expect(ask(server, "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").status == 200)
    }

    @Test(
        "A body whose length is told in two ways is refused, because a proxy may have believed the other",
        arguments: [
            "Content-Length: 3\r\nTransfer-Encoding: chunked", "Content-Length: 3\r\nContent-Length: 4",
            "Content-Length: 3\r\nContent-Length: 3", "Content-Length: +3", "Content-Length: 3, 3",
            "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        ])
    func ambiguousLength(fields: String) throws {
        let server = try start()
        defer { server.stop() }
        let answer = ask(server, "POST / HTTP/1.1\r\nHost: h\r\n\(fields)\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
        #expect(answer.status >= 400 && answer.status < 600, "\(answer)")
    }

    @Test("A body that takes too long is 408, and ends its connection")
    func slowBody() throws {
        let server = try start { $0.bodySecondsMaximum = 0 }
        defer { server.stop() }
        #expect(ask(server, "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nab").status == 408)
        #expect(PlainHTTP.request("GET", "/", port: server.port).status == 200)
    }

    @Test("A line or a head that is too long, or not HTTP, is refused, and leaves nothing behind")
    func badHeads() async throws {
        let server = try start()
        defer { server.stop() }
        let long = String(repeating: "a", count: 100_000)
        let end = "Host: h\r\nConnection: close\r\n\r\n"
        #expect(ask(server, "GET /\(long) HTTP/1.1\r\n\(end)").status == 414)
        #expect(ask(server, "GET / HTTP/1.1\r\nX: \(long)\r\n\(end)").status == 431)
        #expect(ask(server, "GET /%zz HTTP/1.1\r\n\(end)").status == 400)
        #expect(ask(server, "GET /%00 HTTP/1.1\r\n\(end)").status == 400)
        #expect(ask(server, "GET / HTTP/1.1\r\nConnection: close\r\n\r\n").status == 400)
        #expect(ask(server, "GET / HTTP/1.1\r\nContent-Length: -1\r\n\(end)").status == 400)
        #expect(ask(server, "GET / HTTP/1.1\r\nContent-Length: 18446744073709551616\r\n\(end)").status >= 400)
        _ = ask(server, "GET / HTTP/1.1\r\nno colon\r\n\(end)")
        try await eventually("the open requests", equals: 0) { server.requestCount }
    }

    @Test("No bytes are a reason to crash")
    func randomBytes() async throws {
        let server = try start { $0.idleSecondsMaximum = 1 }
        defer { server.stop() }
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let pieces = [
            "GET ", "POST ", "/", "%41", "%", "?a=b", " HTTP/1.1", " HTTP/1.0", "\r\n", "\n", "\r\n\r\n", "Host: h",
            "Content-Length: 5", "Content-Length: 99999999999999999999", "Transfer-Encoding: chunked",
            "Expect: 100-continue",
            ": ", "\u{0}", "\u{7f}", "ffffffffffffffff\r\n", "0\r\n\r\n", "hello", " ", "Connection: close", "\t",
        ]
        for _ in 0..<300 {
            var text = Bool.random(using: &generator) ? "POST /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n" : ""
            for _ in 0..<Int.random(in: 0...20, using: &generator) {
                text += pieces.randomElement(using: &generator) ?? ""
            }
            // The close asks a server that waits for more to give up.
            _ = PlainHTTP.exchange(text + "\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", server.port)
        }
        #expect(ask(server, "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").status == 200, "seed \(seed)")
        try await eventually("the open requests", equals: 0) { server.requestCount }
    }

    @Test("A deferred answer comes when it is given, and only the first counts")
    func deferredAnswer() async throws {
        let server = try start()
        defer { server.stop() }
        #expect(PlainHTTP.request("GET", "/twice", port: server.port).body == "first\n")
        let port = server.port
        async let late = PlainHTTP.requestInBackground("POST", "/later", port: port, body: "abc")
        try await handler.waitForRequests(1)
        #expect(PlainHTTP.request("GET", "/", port: port).status == 200)
        handler.release()
        #expect(await late.body == "late\n")
        #expect(await late.status == 200)
    }

    @Test("A request that nobody answers is a 500")
    func unanswered() throws {
        let server = try start()
        defer { server.stop() }
        #expect(PlainHTTP.request("GET", "/never", port: server.port).status == 500)
    }

    @Test("When too many wait, the next is 503 and told when to come again")
    func tooManyDeferred() async throws {
        let server = try start { $0.deferredRequestsMaximum = 2 }
        defer { server.stop() }
        let port = server.port
        try await withThrowingTaskGroup { group in
            for _ in 0..<2 { group.addTask { await PlainHTTP.requestInBackground("GET", "/later", port: port).status } }
            try await handler.waitForRequests(2)
            let refused = PlainHTTP.request("GET", "/later", port: port)
            #expect(refused.status == 503)
            #expect(refused.headers["retry-after"] == "1")
            handler.release()
            for try await status in group { #expect(status == 200) }
        }
    }

    @Test("A stop answers those that still wait")
    func stopWithDeferred() async throws {
        let server = try start()
        let port = server.port
        async let late = PlainHTTP.requestInBackground("GET", "/later", port: port)
        try await handler.waitForRequests(1)
        server.stop(graceMilliseconds: 10)
        let status = await late.status
        #expect(status == 503 || status == 0)
        #expect(PlainHTTP.request("GET", "/", port: port).status == 0)
        handler.release()
    }

    @Test("A stop waits for a body that comes, and answers its request")
    func stopWithBody() async throws {
        let server = try start()
        let client = PlainHTTP.connect(server.port)
        defer { close(client) }
        PlainHTTP.write("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nab", to: client)
        try await eventually("the body", equals: 2) { try await server.memory().bodyBytes }
        async let stopped: Void = withCheckedContinuation { continuation in
            // It waits on a thread of its own: those of the global queue run Swift's tasks, too.
            DispatchQueue(label: "stop").async {
                server.stop(graceMilliseconds: .max)
                continuation.resume()
            }
        }
        try await eventually("the port to be closed") {
            let other = PlainHTTP.connect(server.port)
            defer { if other >= 0 { close(other) } }
            return other < 0
        }
        PlainHTTP.write("c", to: client)
        let answer = PlainHTTP.readToEnd(client)
        #expect(answer.status == 200 && answer.headers["connection"] == "close")
        #expect(answer.body.hasSuffix("3abc"))
        await stopped
    }

    @Test("A stop does not wait longer than its grace for a body that does not end")
    func stopWithEndlessBody() async throws {
        let server = try start()
        let client = PlainHTTP.connect(server.port)
        defer { close(client) }
        PlainHTTP.write("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nab", to: client)
        try await eventually("the body", equals: 2) { try await server.memory().bodyBytes }
        server.stop(graceMilliseconds: 10)
        var byte: UInt8 = 0
        #expect(recv(client, &byte, 1, 0) == 0)
        #expect(server.requestCount == 0)
    }

    @Test("Requests that are held do not count as deferred, and are let go by a stop at once")
    func heldRequests() async throws {
        let server = try start { $0.deferredRequestsMaximum = 1 }
        let port = server.port
        async let first = PlainHTTP.requestInBackground("GET", "/held", port: port)
        async let second = PlainHTTP.requestInBackground("GET", "/held", port: port)
        try await handler.waitForRequests(2)
        #expect(!handler.isAbandoned)
        server.stop(graceMilliseconds: .max)
        #expect(await [first.status, second.status].allSatisfy { $0 == 503 || $0 == 0 })
        #expect(handler.isAbandoned)
        handler.release()
    }

    @Test("It is known when the client of a held request has gone")
    func abandonedRequest() async throws {
        let server = try start()
        defer { server.stop() }
        let client = PlainHTTP.connect(server.port)
        let request = Array("GET /held HTTP/1.1\r\nHost: h\r\n\r\n".utf8)
        #expect(send(client, request, request.count, 0) == request.count)
        try await handler.waitForRequests(1)
        #expect(!handler.isAbandoned)
        close(client)
        try await eventually("the request to be abandoned") { handler.isAbandoned }
        handler.release()
    }

    @Test("One connection carries several requests")
    func keepAlive() throws {
        let server = try start()
        defer { server.stop() }
        let answer = ask(
            server,
            "GET /a HTTP/1.1\r\nHost: h\r\n\r\nGET /twice HTTP/1.1\r\nHost: h\r\n\r\n"
                + "GET /b HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        #expect(answer.body.contains("/a") && answer.body.contains("first") && answer.body.contains("/b"))
    }

    @Test("Thousands of requests that come at once are answered in their order, without a deeper stack for each")
    func pipeline() throws {
        let server = try start()
        defer { server.stop() }
        let requests = (0..<5_000).map { "GET /\($0) HTTP/1.1\r\nHost: h\r\n\r\n" }.joined()
        let answer = ask(server, requests + "GET /end HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        let paths = answer.body.split(separator: "\n").filter { $0.hasPrefix("/") }
        #expect(paths.map(String.init) == (0..<5_000).map { "/\($0)" } + ["/end"])
    }

    @Test("An answer has no body exactly if its own request was HEAD")
    func heads() throws {
        let server = try start()
        defer { server.stop() }
        let head = "HEAD / HTTP/1.1\r\nHost: h\r\n\r\n"
        #expect(ask(server, head + "no request\r\n").body.hasSuffix("one space between each\n"))
        #expect(ask(server, "HEAD / HTTP/1.1\r\n\r\n").body.isEmpty)
    }

    @Test(
        "An answer that has no body by its status has no length either, and the next follows at once",
        arguments: [204, 304])
    func bareStatuses(status: Int) throws {
        let server = try start()
        defer { server.stop() }
        let answer = ask(
            server,
            "GET /bare/\(status) HTTP/1.1\r\nHost: h\r\n\r\nGET /next HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        #expect(answer.status == status)
        #expect(answer.headers["content-length"] == nil && answer.headers["transfer-encoding"] == nil)
        #expect(answer.body.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.body.contains("/next"), "\(answer)")
    }

    @Test("With a certificate it speaks TLS 1.2 and newer, and nothing else")
    func tls() async throws {
        let identity = try ServerIdentity.selfSigned(
            names: ["localhost"], notBeforeSeconds: 1_600_000_000, notAfterSeconds: 4_000_000_000)
        let server = try start {
            $0.identity = identity
        }
        defer { server.stop() }
        let folder = try TemporaryFolder()
        try folder.write("anchor.pem", identity.certificateChainPEM)
        let script = """
            import http.client, ssl, sys
            context = ssl.create_default_context(cafile="anchor.pem")
            if sys.argv[2] == "old":
                context.minimum_version = ssl.TLSVersion.TLSv1_1
                context.maximum_version = ssl.TLSVersion.TLSv1_1
                context.set_ciphers("DEFAULT:@SECLEVEL=0")
            connection = http.client.HTTPSConnection("localhost", int(sys.argv[1]), context=context)
            connection.request("GET", "/a")
            print(connection.sock.version(), connection.getresponse().status)
            """
        let result = try await CommandRunner.run(
            "/usr/bin/python3", ["-W", "ignore", "-c", script, "\(server.port)", "new"], in: folder)
        #expect(result.output == "TLSv1.3 200\n", "\(result.errors)")
        let old = try await CommandRunner.run(
            "/usr/bin/python3", ["-W", "ignore", "-c", script, "\(server.port)", "old"], in: folder)
        #expect(old.exitCode != 0)
        #expect(PlainHTTP.request("GET", "/a", port: server.port).status == 0)
    }

    @Test("A socket that the system does not watch is an error that tells where, why and what to do")
    func unwatchedSocket() throws {
        // A descriptor that is always ready is nothing that epoll watches: EPERM.
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        let error = try #require(throws: HTTPServerError.self) {
            try HTTPServer(
                adopting: null, port: 8_080, tls: nil,
                configuration: HTTPServerConfiguration(
                    name: "the test server", settingName: "test.listen", host: "127.0.0.1", port: 8_080),
                handler: handler)
        }
        #expect(
            error.message == "the test server cannot listen on 127.0.0.1:8080: Operation not permitted; "
                + "give another address as test.listen")
    }

    @Test("A key that is not the certificate's is refused")
    func wrongKey() throws {
        let identities = try (0..<2).map { _ in
            try ServerIdentity.selfSigned(
                names: ["localhost"], notBeforeSeconds: 1_600_000_000, notAfterSeconds: 4_000_000_000)
        }
        let error = try #require(throws: HTTPServerError.self) {
            try start {
                $0.identity = ServerIdentity(
                    certificateChainPEM: identities[0].certificateChainPEM, privateKeyPEM: identities[1].privateKeyPEM)
            }
        }
        #expect(error.code == .certificateInvalid)
    }
}
