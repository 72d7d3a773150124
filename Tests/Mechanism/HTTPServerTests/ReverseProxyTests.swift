import PushTestKit
import Synchronization
import TestTraits
import Testing

@testable import HTTPServer

@Suite("Behind reverse proxies that are not ours", .ownThread)
struct ReverseProxyTests {
    /// Gives back what it was asked, and remembers the paths.
    private final class Handler: HTTPHandler {
        private let seen = Mutex<[String]>([])

        var paths: [String] { seen.withLock { $0 } }

        func answer(_ request: HTTPRequest) -> HTTPAnswer {
            seen.withLock { $0.append(request.target.rawPath) }
            return .now(.content(200, type: "text/plain", Array("\(request.target.rawPath) ".utf8) + request.body))
        }
    }

    enum Proxy: String, CaseIterable {
        case nginx, haproxy
    }

    private let folder: TemporaryFolder
    private let handler = Handler()

    init() throws { folder = try TemporaryFolder() }

    private func serve() throws -> HTTPServer {
        var configuration = HTTPServerConfiguration(
            name: "the test server", settingName: "test.listen", host: "127.0.0.1", port: 0)
        configuration.trustedProxies = ["127.0.0.1"]
        configuration.connectionsPerAddressMaximum = 2
        configuration.connectionsMaximum = 200
        return try HTTPServer(configuration: configuration, handler: handler)
    }

    private func start(_ proxy: Proxy, before port: UInt16) async throws -> RunningServer {
        switch proxy {
        case .nginx:
            try await RunningServer.start(package: "nginx-light", in: folder) { own in
                try folder.write(
                    "nginx.conf",
                    """
                    daemon off; master_process off; pid nginx.pid; error_log stderr crit;
                    events { worker_connections 512; }
                    http {
                        access_log off; client_body_temp_path a; proxy_temp_path b; fastcgi_temp_path c;
                        uwsgi_temp_path d; scgi_temp_path e;
                        upstream api { server 127.0.0.1:\(port); keepalive 20; }
                        server {
                            listen 127.0.0.1:\(own);
                            location / {
                                proxy_pass http://api; proxy_http_version 1.1; proxy_set_header Connection "";
                                proxy_request_buffering off; proxy_set_header Host $host;
                            }
                        }
                    }
                    """)
                return ["/usr/sbin/nginx", "-p", folder.path, "-c", "nginx.conf", "-e", "stderr"]
            }
        case .haproxy:
            try await RunningServer.start(package: "haproxy", in: folder) { own in
                try folder.write(
                    "haproxy.cfg",
                    """
                    global
                        maxconn 512
                    defaults
                        mode http
                        timeout connect 5s
                        timeout client 30s
                        timeout server 30s
                        http-reuse always
                        option accept-invalid-http-request
                    listen api
                        bind 127.0.0.1:\(own)
                        server api 127.0.0.1:\(port)

                    """)
                return ["/usr/sbin/haproxy", "-db", "-f", "haproxy.cfg"]
            }
        }
    }

    @Test("A hundred connections through a proxy get each its own answers", arguments: Proxy.allCases)
    func manyConnections(proxy: Proxy) async throws {
        let server = try serve()
        defer { server.stop() }
        let front = try await start(proxy, before: server.port)
        let script = """
            import http.client, sys, threading
            wrong = []
            def run(number):
                connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=60)
                for turn in range(20):
                    path = f"/{number}/{turn}"
                    body = f"{number}-{turn}-".encode() * (1 + (number * turn) % 700)
                    sent = iter([body[:10], body[10:]]) if turn % 2 else body
                    connection.request("PUT", path, sent, encode_chunked=turn % 2 == 1)
                    answer = connection.getresponse()
                    if (answer.status, answer.read()) != (200, path.encode() + b" " + body):
                        wrong.append((path, answer.status))
            threads = [threading.Thread(target=run, args=(number,)) for number in range(100)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            print(len(wrong), wrong[:3])
            """
        let result = try await CommandRunner.run("/usr/bin/python3", ["-c", script, "\(front.port)"], in: folder)
        #expect(result.output == "0 []\n", "\(result.errors.suffix(500)) \(front.errors.suffix(500))")
        #expect(handler.paths.count == 2_000)
        #expect(Set(handler.paths.map { Array($0.utf8) }).count == 2_000)
        await front.stop()
    }

    @Test("What a proxy lets through as a body is never a request of its own", arguments: Proxy.allCases)
    func smuggling(proxy: Proxy) async throws {
        let server = try serve()
        defer { server.stop() }
        let front = try await start(proxy, before: server.port)
        let inner = "GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n"
        let length = inner.utf8.count
        let bodies = [
            ("Content-Length : \(length)", inner), ("Content-Length: \(length)\r\nTransfer-Encoding: xchunked", inner),
            ("Content-Length: \(length)\r\nTransfer-Encoding : chunked", inner),
            ("Content-Length: \(length)\r\nTransfer-Encoding:\r\n chunked", inner),
            ("Content-Length: \(length)\r\nTransfer-Encoding:\u{b}chunked", inner),
            ("Content-Length: \(length)\r\nX: a\nTransfer-Encoding: chunked", inner),
            ("Content-Length: \(length)\r\nContent-Length: 0", inner),
            ("Content-Length: 0\r\nX: a\rContent-Length: \(length)", inner),
            ("Transfer-Encoding: chunked\r\nContent-Length: 4", "0\r\n\r\n\(inner)"),
            ("Transfer-Encoding: chunked", "1;a\nb\r\nx\r\n0\r\n\r\n"),
            ("Transfer-Encoding: chunked", "\(String(length, radix: 16));\n\r\n\(inner)\r\n0\r\n\r\n"),
            ("Transfer-Encoding: chunked, identity", "0\r\n\r\n"), ("Transfer-Encoding: identity", inner),
            ("Connection: Content-Length\r\nContent-Length: \(length)", inner),
            ("Expect: 100-continue\r\nContent-Length: \(length)", inner),
        ]
        for (fields, body) in bodies {
            _ = PlainHTTP.exchange(
                "POST /outer HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(fields)\r\n\r\n\(body)", front.port)
            // The next request over the same connection of the proxy gets its own answer.
            let next = PlainHTTP.request("GET", "/next", port: front.port)
            #expect(next.status == 200 && next.body == "/next ", "\(fields): \(next)")
        }
        #expect(!handler.paths.contains("/smuggled"))
        await front.stop()
    }
}
