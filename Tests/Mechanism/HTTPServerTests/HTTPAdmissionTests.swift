import Glibc
import PushTestKit
import Synchronization
import TestTraits
import Testing

@testable import HTTPServer

@Suite("Whose bodies are read", .ownThread)
struct HTTPAdmissionTests {
    /// Reads bodies by their paths.
    private final class Handler: HTTPHandler {
        private let admitters = Mutex<[HTTPAdmitter]>([])

        var waitingCount: Int { admitters.withLock { $0.count } }

        func admit(_ request: HTTPRequest, bodyBytes: Int?) -> HTTPAdmission {
            switch request.target.segments.first {
            case "refuse": .refuse(.text(401, "who are you?"))
            case "small": .read(bytesMaximum: 2)
            case "ask": .later { admitter in self.admitters.withLock { $0.append(admitter) } }
            case "never": .later { _ in }
            default: .read(bytesMaximum: .max)
            }
        }

        func answer(_ request: HTTPRequest) -> HTTPAnswer { .now(.text(200, "\(request.body.count)")) }

        func decide(_ decision: (HTTPAdmitter) -> Void) {
            let waiting = admitters.withLock { admitters in
                defer { admitters = [] }
                return admitters
            }
            waiting.forEach(decision)
        }
    }

    private let handler = Handler()

    private func start() throws -> HTTPServer {
        try HTTPServer(
            configuration: HTTPServerConfiguration(
                name: "the test server", settingName: "test.listen", host: "127.0.0.1", port: 0),
            handler: handler)
    }

    private func head(_ path: String, _ fields: String = "Content-Length: 3") -> String {
        "PUT \(path) HTTP/1.1\r\nHost: h\r\n\(fields)\r\n\r\n"
    }

    @Test("Who is refused gets the answer without having sent the body, and the connection ends")
    func refused() throws {
        let server = try start()
        defer { server.stop() }
        for fields in ["Content-Length: 60000", "Transfer-Encoding: chunked"] {
            let answer = PlainHTTP.exchange(head("/refuse", fields), server.port)
            #expect(answer.status == 401)
            #expect(answer.headers["connection"] == "close")
        }
    }

    @Test("A body of a refused request is never the next request")
    func noSmuggling() throws {
        let server = try start()
        defer { server.stop() }
        let smuggled = "GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n"
        let answer = PlainHTTP.exchange(
            head("/refuse", "Content-Length: \(smuggled.utf8.count)") + smuggled, server.port)
        #expect(answer.status == 401 && answer.body == "who are you?\n")
    }

    @Test("A body may be limited by what it is for")
    func limited() throws {
        let server = try start()
        defer { server.stop() }
        #expect(PlainHTTP.exchange(head("/small") + "abc", server.port).status == 413)
        #expect(
            PlainHTTP.exchange(head("/small", "Transfer-Encoding: chunked") + "3\r\nabc\r\n", server.port).status == 413
        )
    }

    @Test("Another thread may decide, and until then nothing of the body is read")
    func later() async throws {
        let server = try start()
        defer { server.stop() }
        let clients = (0..<2).map { _ in PlainHTTP.connect(server.port) }
        defer { for client in clients { close(client) } }
        let request = head("/ask", "Connection: close\r\nContent-Length: 3") + "abc"
        PlainHTTP.write(request, to: clients[0])
        try await eventually("the question") {
            handler.waitingCount
        } until: {
            $0 == 1
        }
        handler.decide { $0.read(bytesMaximum: 3) }
        #expect(PlainHTTP.readToEnd(clients[0]).body == "3\n")
        PlainHTTP.write(request, to: clients[1])
        try await eventually("the question") {
            handler.waitingCount
        } until: {
            $0 == 1
        }
        handler.decide { $0.refuse(.text(403, "no")) }
        #expect(PlainHTTP.readToEnd(clients[1]).status == 403)
        #expect(PlainHTTP.exchange(head("/never") + "abc", server.port).status == 500)
    }

    @Test("A client that asks first is told to go on only if its body is wanted")
    func expectation() throws {
        let server = try start()
        defer { server.stop() }
        let client = PlainHTTP.connect(server.port)
        defer { close(client) }
        PlainHTTP.write(head("/", "Connection: close\r\nExpect: 100-continue\r\nContent-Length: 3"), to: client)
        var bytes = [UInt8](repeating: 0, count: 25)
        #expect(recv(client, &bytes, bytes.count, Int32(MSG_WAITALL)) == 25)
        #expect(String(decoding: bytes, as: UTF8.self) == "HTTP/1.1 100 Continue\r\n\r\n")
        PlainHTTP.write("abc", to: client)
        #expect(PlainHTTP.readToEnd(client).body == "3\n")
        let refused = PlainHTTP.exchange(head("/refuse", "Expect: 100-continue\r\nContent-Length: 3"), server.port)
        #expect(refused.status == 401)
        #expect(PlainHTTP.exchange(head("/", "Expect: a cup of tea\r\nContent-Length: 3"), server.port).status == 417)
    }

    @Test("A client of HTTP/1.0, which knows no interim answer, gets none")
    func expectationOfOld() async throws {
        let server = try start()
        defer { server.stop() }
        let client = PlainHTTP.connect(server.port)
        defer { close(client) }
        PlainHTTP.write("PUT /ask HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n", to: client)
        try await eventually("the question", equals: 1) { handler.waitingCount }
        handler.decide { $0.read(bytesMaximum: 3) }
        PlainHTTP.write("abc", to: client)
        let answer = PlainHTTP.readToEnd(client)
        #expect(answer.status == 200 && answer.body == "3\n", "\(answer)")
    }

    @Test("A stop refuses a body about which nobody has decided, and a later decision means nothing")
    func stop() async throws {
        let server = try start()
        let client = PlainHTTP.connect(server.port)
        defer { close(client) }
        PlainHTTP.write(head("/ask"), to: client)
        try await eventually("the question", equals: 1) { handler.waitingCount }
        server.stop(graceMilliseconds: 10)
        let answer = PlainHTTP.readToEnd(client)
        #expect(answer.status == 503 && answer.headers["connection"] == "close", "\(answer)")
        #expect(answer.headers["retry-after"] == "1")
        handler.decide { $0.read(bytesMaximum: 3) }
        #expect(server.requestCount == 0)
    }
}
