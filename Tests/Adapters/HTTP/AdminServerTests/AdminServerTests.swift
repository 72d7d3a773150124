import AdminServer
import HTTPServer
import Metrics
import PushTestKit
import Synchronization
import TestTraits
import Testing

@Suite("The admin server", .ownThread)
struct AdminServerTests {
    private let failures = FailureSwitch()
    private let registry = MetricsRegistry()

    private func start() throws -> AdminServer {
        ProcessMetrics.register(in: registry, product: "apus", version: "1.2.3")
        return try AdminServer(
            host: "127.0.0.1", port: 0,
            routes: AdminRoutes(
                liveness: { [HealthCheck("loops", failure: nil)] },
                readiness: { [failures] in
                    [
                        HealthCheck("loops", failure: nil), HealthCheck("consuming", failure: failures.reason),
                        HealthCheck("peer", failure: failures.peerReason, onlyDegrades: true),
                    ]
                },
                metrics: { [registry] in registry.render($0) }, product: "apus", version: "1.2.3"))
    }

    @Test("/livez and /version answer with JSON")
    func livezAndVersion() throws {
        let server = try start()
        defer { server.stop() }
        let live = PlainHTTP.request("GET", "/livez", port: server.port)
        #expect(live.status == 200)
        #expect(live.headers["content-type"] == "application/json")
        #expect(live.body == #"{"status":"ok","checks":[{"name":"loops","ok":true}]}"# + "\n")
        let version = PlainHTTP.request("GET", "/version?x=1", port: server.port)
        #expect(version.body == #"{"name":"apus","version":"1.2.3"}"# + "\n")
    }

    @Test("/readyz turns to 503 with the reason, and back")
    func readyz() throws {
        let server = try start()
        defer { server.stop() }
        #expect(PlainHTTP.request("GET", "/readyz", port: server.port).status == 200)
        failures.reason = "the queue \"apus.work\" is missing"
        let failing = PlainHTTP.request("GET", "/readyz", port: server.port)
        #expect(failing.status == 503)
        #expect(
            failing.body == #"{"status":"failing","checks":[{"name":"loops","ok":true},{"name":"consuming","ok":false,"#
                + #""reason":"the queue \"apus.work\" is missing"},{"name":"peer","ok":true}]}"# + "\n")
        failures.reason = nil
        #expect(PlainHTTP.request("GET", "/readyz", port: server.port).status == 200)
    }

    @Test("/readyz stays at 200 with a check that only degrades, says so, and turns to 503 with another")
    func degraded() throws {
        let server = try start()
        defer { server.stop() }
        failures.peerReason = "away"
        let degraded = PlainHTTP.request("GET", "/readyz", port: server.port)
        #expect(degraded.status == 200)
        #expect(degraded.body.hasPrefix(#"{"status":"degraded","checks":"#))
        #expect(degraded.body.contains(#"{"name":"peer","ok":false,"reason":"away","onlyDegrades":true}"#))
        failures.reason = "not connected"
        let failing = PlainHTTP.request("GET", "/readyz", port: server.port)
        #expect(failing.status == 503 && failing.body.hasPrefix(#"{"status":"failing""#))
    }

    @Test("HEAD answers with the same head and no body")
    func head() throws {
        let server = try start()
        defer { server.stop() }
        let answer = PlainHTTP.request("HEAD", "/version", port: server.port)
        #expect(answer.status == 200)
        #expect(answer.headers["content-length"] == "34")
        #expect(answer.body.isEmpty)
    }

    @Test("Other methods are refused with 405 and the methods that are allowed", arguments: ["POST", "PUT", "DELETE"])
    func otherMethods(method: String) throws {
        let server = try start()
        defer { server.stop() }
        let answer = PlainHTTP.request(
            method, "/metrics", port: server.port, body: String(repeating: "x", count: 5_000))
        #expect(answer.status == 405)
        #expect(answer.headers["allow"] == "GET, HEAD")
    }

    @Test(
        "An unknown path is 404 with the paths that there are", arguments: ["/", "/metrics/", "/../etc/passwd", "/%01"])
    func unknownPath(path: String) throws {
        let server = try start()
        defer { server.stop() }
        let answer = PlainHTTP.request("GET", path, port: server.port)
        #expect(answer.status == 404)
        for known in ["/livez", "/readyz", "/metrics", "/version"] { #expect(answer.body.contains(known)) }
    }

    @Test("What is not HTTP is refused, and the server goes on")
    func garbage() throws {
        let server = try start()
        defer { server.stop() }
        let long = "GET /" + String(repeating: "a", count: 100_000) + " HTTP/1.1\r\n\r\n"
        for text in ["\r\n\r\n\r\n", "GET", "\u{0}\u{1}\u{2}\r\n\r\n", "GET /livez HTTP/9.9\r\n\r\n", long] {
            // The end of each connection is the client's, so a server that waits for more must not keep the test.
            _ = PlainHTTP.exchange(text + "Connection: close\r\n\r\n", server.port)
        }
        #expect(PlainHTTP.request("GET", "/livez", port: server.port).status == 200)
    }

    @Test("More connections than it takes at once are all answered in the end")
    func manyConnections() async throws {
        let server = try start()
        defer { server.stop() }
        let port = server.port
        let statuses = await withTaskGroup { group in
            for _ in 0..<200 { group.addTask { PlainHTTP.request("GET", "/metrics", port: port).status } }
            return await group.reduce(into: [Int: Int]()) { $0[$1, default: 0] += 1 }
        }
        #expect(statuses == [200: 200])
    }

    @Test("A port that is taken is an error that names it; after the stop it is free")
    func portTaken() throws {
        let first = try start()
        let routes = AdminRoutes(
            liveness: { [] }, readiness: { [] }, metrics: { _ in "" }, product: "apus", version: "1")
        let error = try #require(throws: HTTPServerError.self) {
            try AdminServer(host: "127.0.0.1", port: first.port, routes: routes)
        }
        #expect(error.code == .addressInUse)
        #expect(error.message.contains("127.0.0.1:\(first.port)"))
        #expect(error.message.contains("admin.listen"))
        first.stop()
        first.stop()
        #expect(PlainHTTP.request("GET", "/livez", port: first.port).status == 0)
        let second = try AdminServer(host: "127.0.0.1", port: first.port, routes: routes)
        #expect(PlainHTTP.request("GET", "/livez", port: second.port).status == 200)
        second.stop()
    }

    @Test("A host that is not of this machine is an error", arguments: ["192.0.2.1", "no-such-host.invalid"])
    func foreignHost(host: String) {
        let routes = AdminRoutes(
            liveness: { [] }, readiness: { [] }, metrics: { _ in "" }, product: "apus", version: "1")
        #expect(throws: HTTPServerError.self) { try AdminServer(host: host, port: 0, routes: routes) }
    }

    @Test("It answers for its own names and addresses in numbers, and refuses other hosts with 421")
    func hosts() throws {
        let server = try AdminServer(
            host: "127.0.0.1", port: 0, names: ["metrics.example"],
            routes: AdminRoutes(
                liveness: { [] }, readiness: { [] }, metrics: { _ in "secret" }, product: "apus", version: "1"))
        defer { server.stop() }
        for (host, status) in [
            ("metrics.example:9090", 200), ("localhost", 200), ("127.0.0.1", 200), ("[::1]:9090", 200),
            ("evil.example", 421), ("metrics.example.evil.example", 421),
        ] {
            let answer = PlainHTTP.exchange(
                "GET /metrics HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n", server.port)
            #expect(answer.status == status && answer.body.contains("secret") == (status == 200), "\(answer)")
        }
    }

    /// The headers of Prometheus 2.42 and 3 come first, then others.
    @Test(
        "/metrics is in OpenMetrics for those who prefer it, and in text for all others",
        arguments: [
            (
                "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
                    + "text/plain;version=0.0.4;q=0.5,*/*;q=0.1", true
            ),
            (
                "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,text/plain;version=0.0.4;q=0.3",
                true
            ),
            ("application/openmetrics-text", true), ("application/openmetrics-text;q=0.1,*/*;q=0.1", true),
            ("text/plain;version=0.0.4,application/openmetrics-text;version=1.0.0;q=0.9", false),
            ("application/openmetrics-text;version=0.0.1", false), ("application/openmetrics-text;q=0", false),
            ("*/*", false), ("text/html,application/xhtml+xml,*/*;q=0.8", false), ("application/json", false),
        ])
    func formats(accept: String, isOpenMetrics: Bool) throws {
        let server = try start()
        defer { server.stop() }
        let answer = PlainHTTP.exchange(
            "GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: \(accept)\r\nConnection: close\r\n\r\n", server.port)
        #expect(answer.status == 200 && answer.headers["vary"] == "Accept")
        #expect(answer.body.hasSuffix("# EOF\n") == isOpenMetrics)
        let format: MetricsFormat = isOpenMetrics ? .openMetrics : .text
        #expect(answer.headers["content-type"] == format.mediaType)
    }

    @Test("promtool finds nothing to say about /metrics")
    func promtool() async throws {
        _ = registry.counter("apus_pushes_total", help: "Pushes.", labels: [.init("app", "a\"b\\c\nd")])
        registry.histogram(
            "apus_push_duration_seconds", help: "From request to answer.",
            boundsSeconds: Histogram.requestBoundsSeconds
        ).observe(nanoseconds: 3_000_000)
        let server = try start()
        defer { server.stop() }
        let answer = PlainHTTP.request("GET", "/metrics", port: server.port)
        #expect(answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
        let folder = try TemporaryFolder()
        let path = "/usr/bin/promtool"
        let result = try await CommandRunner.run(path, ["check", "metrics"], input: answer.body, in: folder)
        #expect(result.exitCode == 0, "if promtool is missing: apt-get install prometheus")
        #expect(result.output + result.errors == "")
    }
}

/// The failure that a test's check reports, changed while the server runs.
final class FailureSwitch: Sendable {
    private let storage = Mutex<String?>(nil)
    private let peerStorage = Mutex<String?>(nil)

    var reason: String? {
        get { storage.withLock { $0 } }
        set { storage.withLock { $0 = newValue } }
    }

    /// Of a check that only degrades.
    var peerReason: String? {
        get { peerStorage.withLock { $0 } }
        set { peerStorage.withLock { $0 = newValue } }
    }
}
