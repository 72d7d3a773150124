import PushTestKit
import TestTraits
import Testing

@testable import HTTPServer

@Suite("What the server says in place of an answer", .ownThread)
struct HTTPRefusalTests {
    /// Repeats in its refusals what it was told of the request.
    private struct Handler: HTTPHandler {
        func answer(_ request: HTTPRequest) -> HTTPAnswer {
            request.target.segments == ["never"] ? .later { _ in } : .now(.text(200, "well"))
        }

        func response(to refusal: HTTPRefusal, rawPath: String, fields: [HTTPField]) -> HTTPResponse {
            .text(refusal.status, "\(rawPath) \(fields.value("x-one") ?? "-")")
        }
    }

    private func start(_ change: (inout HTTPServerConfiguration) -> Void) throws -> HTTPServer {
        var configuration = HTTPServerConfiguration(
            name: "the test server", settingName: "test.listen", host: "127.0.0.1", port: 0)
        configuration.hosts = .names(["h"])
        configuration.bodySecondsMaximum = 0
        change(&configuration)
        return try HTTPServer(configuration: configuration, handler: Handler())
    }

    @Test(
        "A handler that words a refusal knows the path and the fields that have come",
        arguments: [
            ("GET /a HTTP/1.1\r\nHost: g\r\n", 421), ("PUT /a?b HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n", 408),
            ("PUT http://h/a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n", 408),
            ("PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 70000\r\n", 413),
            ("PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n", 501),
        ])
    func context(head: String, status: Int) throws {
        let server = try start { _ in }
        defer { server.stop() }
        let answer = PlainHTTP.exchange("\(head)Connection: close\r\nX-One: 1\r\n\r\n", server.port)
        #expect(answer.status == status && answer.body == "/a 1\n", "\(answer)")
    }

    @Test("It does if nobody answers, or too many wait, too", arguments: [(1, 500), (0, 503)])
    func deferred(countMaximum: Int, status: Int) throws {
        let server = try start { $0.deferredRequestsMaximum = countMaximum }
        defer { server.stop() }
        let answer = PlainHTTP.exchange(
            "GET /never HTTP/1.1\r\nHost: h\r\nConnection: close\r\nX-One: 1\r\n\r\n", server.port)
        #expect(answer.status == status && answer.body == "/never 1\n", "\(answer)")
    }

    @Test("Of a head that does not end it knows what has come, and without one nothing")
    func partialHead() throws {
        let server = try start {
            $0.headSecondsMaximum = 1
            $0.connectionsPerAddressMaximum = 0
            $0.trustedProxies = ["127.0.0.1"]
        }
        defer { server.stop() }
        let slow = PlainHTTP.exchange("GET /a HTTP/1.1\r\nHost: h\r\nX-One: 1\r\nX-", server.port)
        #expect(slow.status == 408 && slow.body == "/a 1\n", "\(slow)")
        let early = PlainHTTP.exchange("", server.port, from: "127.0.0.2")
        #expect(early.status == 503 && early.body == " -\n", "\(early)")
    }
}
