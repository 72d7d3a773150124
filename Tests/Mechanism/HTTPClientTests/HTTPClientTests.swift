import Crypto
import Glibc
import HTTPClient
import HTTPServer
import PushTestKit
import Testing

@Suite("Fetching by HTTP")
struct HTTPClientTests {
    /// Says who asks for what, or answers with as many bytes as the path says.
    private struct Handler: HTTPHandler {
        func answer(_ request: HTTPRequest) -> HTTPAnswer {
            if let count = request.target.segments.first.flatMap({ Int($0) }) {
                return .now(.content(200, type: "text/plain", [UInt8](repeating: 1, count: count)))
            }
            if request.method == "POST" {
                return .now(.content(200, type: "text/plain", request.body))
            }
            return .now(.text(403, "\(request.target.rawPath) \(request.field("authorization") ?? "-")"))
        }
    }

    private func start(_ identity: ServerIdentity? = nil) throws -> HTTPServer {
        var configuration = HTTPServerConfiguration(
            name: "the test server", settingName: "test.listen", host: "127.0.0.1", port: 0)
        configuration.identity = identity
        return try HTTPServer(configuration: configuration, handler: Handler())
    }

    @Test("An answer comes whole with its status, and the client says who asks unless the URL does")
    func asks() throws {
        let server = try start()
        defer { server.stop() }
        var client = HTTPClient()
        let anonymous = try client.get("http://127.0.0.1:\(server.port)/a%2Fb")
        #expect(anonymous.status == 403)
        #expect(String(decoding: anonymous.body, as: UTF8.self).hasPrefix("/a%2Fb -"))
        client.user = "guest"
        client.password = "guest"
        let own = try client.get("http://127.0.0.1:\(server.port)/")
        #expect(String(decoding: own.body, as: UTF8.self).contains("Basic Z3Vlc3Q6Z3Vlc3Q="))
        let other = try client.get("http://a:b@127.0.0.1:\(server.port)/")
        #expect(String(decoding: other.body, as: UTF8.self).contains("Basic YTpi"))
    }

    @Test("A form is posted with every byte that could be mistaken written as %XX")
    func posts() throws {
        let server = try start()
        defer { server.stop() }
        let url = "http://127.0.0.1:\(server.port)/"
        let answer = try HTTPClient().post(url, form: ["grant_type": "a:b c", "assertion": "x.y_z-1*&=+ä\n"])
        #expect(
            String(decoding: answer.body, as: UTF8.self)
                == "grant_type=a%3Ab%20c&assertion=x.y_z-1%2A%26%3D%2B%C3%A4%0A")
        #expect(answer.retryAfterSeconds == nil)
    }

    @Test("A body that is longer than the limit is no answer, and one that is as long is")
    func limits() throws {
        let server = try start()
        defer { server.stop() }
        var client = HTTPClient()
        client.bytesMaximum = 100_000
        #expect(try client.get("http://127.0.0.1:\(server.port)/100000").body.count == 100_000)
        #expect(throws: HTTPClient.Failure.self) { try client.get("http://127.0.0.1:\(server.port)/100001") }
    }

    @Test("A certificate that nobody signed is refused, unless it is the trust anchor that was given")
    func verifies() throws {
        let now = Int64(time(nil))
        let identity = try ServerIdentity.selfSigned(
            names: ["localhost"], notBeforeSeconds: now - 60, notAfterSeconds: now + 3_600)
        let server = try start(identity)
        defer { server.stop() }
        var client = HTTPClient()
        #expect {
            try client.get("https://localhost:\(server.port)/1")
        } throws: { error in
            "\(error)".contains("certificate")
        }
        let folder = try TemporaryFolder()
        client.caFile = try folder.write("ca.pem", identity.certificateChainPEM)
        #expect(try client.get("https://localhost:\(server.port)/1").status == 200)
    }

    @Test("Where nobody listens, or the URL is not one of HTTP, there is a reason")
    func fails() throws {
        let client = HTTPClient()
        let port = try FreePorts.find(1)[0]
        for url in ["http://127.0.0.1:\(port)/", "file:///etc/hostname", "http://"] {
            #expect {
                try client.get(url)
            } throws: { error in
                !"\(error)".isEmpty
            }
        }
    }
}
