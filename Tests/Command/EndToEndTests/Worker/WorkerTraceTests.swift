import Foundation
import PushTestKit
import Testing

@Suite("A worker that exports traces", .timeLimit(.minutes(10)))
struct WorkerTraceTests {
    /// Takes requests as a collector does, and keeps their bodies.
    private static let collector = """
        import http.server
        class Collector(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                with open("spans", "ab") as file:
                    file.write(self.path.encode() + body)
                self.send_response(200)
                self.send_header("content-type", "application/x-protobuf")
                self.send_header("content-length", "0")
                self.end_headers()
            def log_message(self, *_):
                pass
        server = http.server.HTTPServer(("127.0.0.1", 0), Collector)
        print("port", server.server_port, flush=True)
        server.serve_forever()
        """

    @Test("The spans of an event reach the collector in the publisher's trace, and log and outcome name the trace")
    func spans() async throws {
        let fixture = try await WorkerFixture()
        let text = try fixture.folder.read("apus.toml")
        try fixture.folder.write(
            "apus.toml",
            text.replacing("[log]", with: "[log]\nlevel = \"debug\"")
                .replacing("[[app]]", with: "[[app]]\noutcomes = [\"all\"]"))
        try fixture.register(1)
        try fixture.folder.write("collector.py", Self.collector)
        let collector = try RunningCommand(program: "/usr/bin/python3", ["collector.py"], in: fixture.folder)
        try await collector.wait(for: "\n", in: \.output)
        let port = try #require(collector.output.split(separator: " ").last?.trimmingCharacters(in: .newlines))
        let worker = try WorkerProcess(
            in: fixture.folder, prefix: ["/usr/bin/env", "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:\(port)"])
        try await worker.readiness(200)
        let tail = try RunningCommand(["outcomes", "tail", "--limit", "1"], in: fixture.folder)
        try await tail.wait(for: "listening")
        let traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
        let event = WorkerFixture.datasetChanged("e1", identity: 0, syncCount: 1)
        try await fixture.publish([
            event.replacing(
                #""specversion":"1.0""#,
                with: #""specversion":"1.0","traceparent":"00-\#(traceID)-00f067aa0ba902b7-01""#)
        ])
        _ = try await fixture.accepted(reachingDevices: 1)
        #expect(await tail.end().exitCode == 0)
        let end = await worker.drain()
        #expect(end.exitCode == 0 && end.errors.contains(#""trace_id":"\#(traceID)""#), "\(end)")
        let spans = try Data(contentsOf: URL(fileURLWithPath: fixture.folder.path + "/spans"))
        #expect(spans.starts(with: Array("/v1/traces".utf8)))
        let bytes = stride(from: 0, to: 32, by: 2).compactMap { UInt8(traceID.dropFirst($0).prefix(2), radix: 16) }
        #expect(spans.firstRange(of: Data(bytes)) != nil)
        for name in ["process \(fixture.namespace).changes", "push apns"] {
            #expect(spans.firstRange(of: Data(name.utf8)) != nil, "\(name)")
        }
        _ = await collector.stop()
        try await fixture.stop()
    }
}
