import Crypto
import Glibc
import HTTPServer
import PushTestKit
import Testing
import TraceExport

@Suite("The exporter of traces, against a collector in every mood")
struct TraceExporterTests {
    private static func names(_ numbers: ClosedRange<Int>) -> [String] { numbers.map { "span \($0)" } }

    @Test("Spans come whole and in their order, with the fields that the protocol and the operator ask for")
    func exports() async throws {
        let collector = TraceCollector()
        let server = try collector.serve()
        defer { server.stop() }
        let fixture = try ExporterFixture(
            "http://127.0.0.1:\(server.port)/mine", ["OTEL_EXPORTER_OTLP_HEADERS": "api-key=secret%3D"])
        for number in 1...3 { fixture.exporter.submit(try SampleSpans.spans(400, from: number * 400 - 399)) }
        await fixture.exporter.stop()
        let state = collector.state.value
        #expect(state.taken == Self.names(1...1_200))
        #expect(state.batches.allSatisfy { $0.count <= 512 })
        let request = try #require(state.requests.first)
        #expect(request.method == "POST" && request.target.rawPath == "/mine/v1/traces")
        #expect(request.field("content-type") == "application/x-protobuf")
        #expect(request.field("user-agent") == "apus/1.2.3" && request.field("api-key") == "secret=")
        #expect(fixture.exported == 1_200 && fixture.failures == 0 && fixture.waiting == 0)
        #expect(fixture.log.lines.value.isEmpty)
    }

    @Test("A batch waits for others, and goes when it is full")
    func batches() async throws {
        let collector = TraceCollector()
        let server = try collector.serve()
        defer { server.stop() }
        let variables = ["OTEL_BSP_SCHEDULE_DELAY": "3600000", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "10"]
        let fixture = try ExporterFixture("http://127.0.0.1:\(server.port)", variables)
        for number in 1...25 { fixture.exporter.submit(try SampleSpans.spans(1, from: number)) }
        #expect(await collector.state.wait { $0.batches.count == 2 })
        await fixture.exporter.stop()
        #expect(collector.state.value.batches.map(\.count) == [10, 10, 5])
        #expect(collector.state.value.taken == Self.names(1...25))
    }

    @Test("While the collector stalls nobody waits, the queue keeps its bound, and what is beyond is counted")
    func stalls() async throws {
        let collector = TraceCollector([.stall])
        let server = try collector.serve()
        defer { server.stop() }
        let variables = ["OTEL_BSP_MAX_QUEUE_SIZE": "100", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "40"]
        let fixture = try ExporterFixture("http://127.0.0.1:\(server.port)", variables)
        fixture.exporter.submit(try SampleSpans.spans(40))
        #expect(await collector.state.wait { $0.batches.count == 1 && $0.stalled.count == 1 })
        let spans = try SampleSpans.spans(10, from: 41)
        // Every call returns, although the collector has not answered.
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<1_000 { fixture.exporter.submit(spans) } }
            }
        }
        #expect(collector.state.read { $0.stalled.count == 1 && $0.batches.count == 1 })
        #expect(fixture.dropped("queue_full") == 80_000 - 100)
        #expect(fixture.waiting == 140 && fixture.exported == 0)
        collector.answerStalled()
        await fixture.exporter.stop()
        #expect(fixture.exported == 140 && fixture.waiting == 0)
        #expect(collector.state.value.batches.map(\.count) == [40, 40, 40, 20])
    }

    @Test(
        "A collector that throttles gets the same batch again after the wait that it asks for", arguments: [429, 503])
    func throttles(_ status: Int) async throws {
        let fields = [HTTPField("Retry-After", "1")]
        let collector = TraceCollector([.answer(HTTPResponse(status: status, fields: fields, body: [0x12, 1, 0x61]))])
        let server = try collector.serve()
        defer { server.stop() }
        let fixture = try ExporterFixture("http://127.0.0.1:\(server.port)")
        fixture.exporter.submit(try SampleSpans.spans(5))
        #expect(await collector.state.wait { $0.taken.count == 5 })
        await fixture.exporter.stop()
        #expect(collector.state.value.batches == [Self.names(1...5), Self.names(1...5)])
        #expect(fixture.exported == 5 && fixture.failures == 1)
        #expect(await fixture.log.wait(for: "warning traces.export.failed", "the collector answered \(status) (a)"))
        #expect(await fixture.log.wait(for: "info traces.export.recovered"))
    }

    @Test(
        "A collector that fails in passing is asked again, and one that refuses is not",
        arguments: [502, 504, 400, 413])
    func fails(_ status: Int) async throws {
        let collector = TraceCollector([.answer(.text(status, "no"))])
        let server = try collector.serve()
        defer { server.stop() }
        let fixture = try ExporterFixture("http://127.0.0.1:\(server.port)")
        fixture.exporter.submit(try SampleSpans.spans(3))
        #expect(await collector.state.wait { $0.batches.count == 1 })
        let isFinal = status < 500
        if isFinal { #expect(await fixture.log.wait(for: "warning traces.export.refused", "answered \(status)")) }
        fixture.exporter.submit(try SampleSpans.spans(2, from: 4))
        await fixture.exporter.stop()
        #expect(collector.state.value.taken == Self.names(isFinal ? 4...5 : 1...5))
        #expect(fixture.dropped("refused") == (isFinal ? 3 : 0) && fixture.failures == 1)
    }

    @Test("A collector that takes a part says so, and is not asked again")
    func partialSuccess() async throws {
        let collector = TraceCollector([
            .takeWithout(count: 2, reason: "too old"), .takeWithout(count: 0, reason: "slow"),
        ])
        let server = try collector.serve()
        defer { server.stop() }
        let fixture = try ExporterFixture("http://127.0.0.1:\(server.port)")
        fixture.exporter.submit(try SampleSpans.spans(5))
        #expect(await fixture.log.wait(for: "traces.export.rejected", "too old", "spans=integer(2)"))
        fixture.exporter.submit(try SampleSpans.spans(1, from: 6))
        await fixture.exporter.stop()
        #expect(await fixture.log.wait(for: "traces.export.rejected", "slow", "spans=integer(0)"))
        #expect(collector.state.value.batches.map(\.count) == [5, 1])
        #expect(fixture.exported == 4 && fixture.dropped("rejected") == 2)
    }

    @Test("A connection that is cut costs no span")
    func cut() async throws {
        let collector = TraceCollector([.stall])
        let server = try collector.serve()
        defer { server.stop() }
        let proxy = try await FaultProxy.start(to: server.port)
        let fixture = try ExporterFixture("http://127.0.0.1:\(proxy.port)")
        fixture.exporter.submit(try SampleSpans.spans(5))
        #expect(await collector.state.wait { $0.stalled.count == 1 })
        try await proxy.resetAll()
        #expect(await collector.state.wait { $0.taken.count == 5 })
        await fixture.exporter.stop()
        #expect(fixture.exported == 5 && fixture.failures == 1)
        try await proxy.stop()
    }

    @Test("An answer that does not come in time is a failure, and the batch is sent again")
    func timeout() async throws {
        let collector = TraceCollector([.stall])
        let server = try collector.serve()
        defer { server.stop() }
        let fixture = try ExporterFixture("http://127.0.0.1:\(server.port)", ["OTEL_EXPORTER_OTLP_TIMEOUT": "200"])
        fixture.exporter.submit(try SampleSpans.spans(5))
        #expect(await fixture.log.wait(for: "traces.export.failed", "no answer within 0.2 seconds"))
        #expect(await collector.state.wait { $0.taken.count >= 5 })
        await fixture.exporter.stop()
        #expect(fixture.exported == 5)
    }

    @Test("Where no collector is, spans are dropped when their time is over, and the end is not delayed")
    func nobody() async throws {
        let port = try FreePorts.find(1)[0]
        let fixture = try ExporterFixture(
            "http://127.0.0.1:\(port)", ["OTEL_BSP_EXPORT_TIMEOUT": "1"], stopNanoseconds: 50_000_000)
        fixture.exporter.submit(try SampleSpans.spans(5))
        #expect(await fixture.log.wait(for: "traces.export.failed", "advice"))
        await fixture.exporter.stop()
        let dropped = fixture.dropped("unavailable") + fixture.dropped("stopped")
        #expect(dropped == 5 && fixture.exported == 0 && fixture.waiting == 0)
    }

    @Test("An end does not wait for a collector that stalls, counts what is lost, and takes nothing more")
    func stops() async throws {
        let collector = TraceCollector([.stall])
        let server = try collector.serve()
        defer { server.stop() }
        let fixture = try ExporterFixture("http://127.0.0.1:\(server.port)", stopNanoseconds: 50_000_000)
        fixture.exporter.submit(try SampleSpans.spans(5))
        #expect(await collector.state.wait { $0.stalled.count == 1 })
        await fixture.exporter.stop()
        #expect(fixture.dropped("stopped") == 5)
        fixture.exporter.submit(try SampleSpans.spans(3))
        #expect(fixture.dropped("stopped") == 8 && fixture.waiting == 0)
        await fixture.exporter.stop()
    }

    @Test("An end does not wait for a collector that is not to be asked before")
    func stopsWhileThrottled() async throws {
        let fields = [HTTPField("Retry-After", "3600")]
        let collector = TraceCollector([.answer(HTTPResponse(status: 503, fields: fields))])
        let server = try collector.serve()
        defer { server.stop() }
        let fixture = try ExporterFixture(
            "http://127.0.0.1:\(server.port)", ["OTEL_BSP_EXPORT_TIMEOUT": "30000"], stopNanoseconds: 300_000_000_000)
        fixture.exporter.submit(try SampleSpans.spans(5))
        #expect(await fixture.log.wait(for: "traces.export.failed"))
        fixture.exporter.submit(try SampleSpans.spans(3, from: 6))
        await fixture.exporter.stop()
        // A batch that would be sent in an hour is dropped at once.
        #expect(fixture.dropped("unavailable") == 5 && fixture.dropped("stopped") == 3)
        #expect(collector.state.value.batches.count == 1)
    }

    @Test("A collector's certificate is trusted if the operator names it, and only then")
    func tls() async throws {
        let now = Int64(time(nil))
        let identity = try ServerIdentity.selfSigned(
            names: ["localhost"], notBeforeSeconds: now - 60, notAfterSeconds: now + 3_600)
        let collector = TraceCollector()
        let server = try collector.serve(identity)
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let file = try folder.write("ca.pem", identity.certificateChainPEM)
        let trusting = try ExporterFixture(
            "https://localhost:\(server.port)", ["OTEL_EXPORTER_OTLP_CERTIFICATE": file])
        trusting.exporter.submit(try SampleSpans.spans(5))
        await trusting.exporter.stop()
        #expect(trusting.exported == 5)
        let other = try ExporterFixture("https://localhost:\(server.port)", stopNanoseconds: 50_000_000)
        other.exporter.submit(try SampleSpans.spans(5))
        #expect(await other.log.wait(for: "traces.export.failed", "certificate"))
        await other.exporter.stop()
        #expect(other.exported == 0 && collector.state.value.taken.count == 5)
    }
}
