import Crypto
import Essentials
import Glibc
import HTTPServer
import Metrics
import PushTestKit
import Testing
import TraceExport

@testable import Tracing

/// A collector that takes spans, or throttles, fails, stalls or takes a part, as a test says.
final class TraceCollector: HTTPHandler {
    /// The reaction to a request.
    enum Behaviour: Sendable {
        case take
        case takeWithout(count: Int64, reason: String)
        case answer(HTTPResponse)
        /// Never answers, unless the test does.
        case stall
    }

    /// The received requests, and the pending reactions.
    struct State: Sendable {
        /// For the next requests; then it takes everything.
        var behaviours: [Behaviour] = []
        /// The names of the spans of each request, in their order, whatever became of it.
        var batches: [[String]] = []
        var requests: [HTTPRequest] = []
        var stalled: [HTTPResponder] = []
        /// The names of the spans that it took.
        var taken: [String] = []
    }

    let state: Watched<State>

    init(_ behaviours: [Behaviour] = []) { state = Watched(State(behaviours: behaviours)) }

    /// Starts it.
    func serve(_ identity: ServerIdentity? = nil) throws -> HTTPServer {
        var configuration = HTTPServerConfiguration(
            name: "the collector", settingName: "test.listen", host: "127.0.0.1", port: 0)
        configuration.identity = identity
        configuration.bodyBytesMaximum = 8 << 20
        configuration.idleSecondsMaximum = 300
        return try HTTPServer(configuration: configuration, handler: self)
    }

    func answer(_ request: HTTPRequest) -> HTTPAnswer {
        let names = Self.spanNames(request.body)
        let behaviour = state.update { state -> Behaviour in
            let behaviour = state.behaviours.isEmpty ? .take : state.behaviours.removeFirst()
            state.requests.append(request)
            state.batches.append(names)
            switch behaviour {
            case .take: state.taken += names
            case .takeWithout(let count, _): state.taken += names.dropFirst(Int(count))
            case .answer, .stall: break
            }
            return behaviour
        }
        switch behaviour {
        case .take: return .now(Self.response([]))
        case .takeWithout(let count, let reason):
            var writer = ProtobufWriter()
            writer.message(1) { writer in
                writer.integer(1, count)
                writer.string(2, reason)
            }
            return .now(Self.response(writer.bytes))
        case .answer(let response): return .now(response)
        case .stall: return .held { [state] responder in state.update { $0.stalled.append(responder) } }
        }
    }

    private static func response(_ body: [UInt8]) -> HTTPResponse {
        .content(200, type: "application/x-protobuf", body)
    }

    /// Answers what was stalled, as if nothing had been.
    func answerStalled() {
        let stalled = state.update { state in
            defer { state.stalled = [] }
            return state.stalled
        }
        for responder in stalled { responder.respond(Self.response([])) }
    }

    private static func spanNames(_ body: [UInt8]) -> [String] {
        var names: [String] = []
        func each(_ field: UInt64, of bytes: ArraySlice<UInt8>, _ body: (ArraySlice<UInt8>) -> Void) {
            _ = ProtobufReader.read(bytes) { number, value in
                if number == field, case .bytes(let bytes) = value { body(bytes) }
            }
        }
        each(1, of: body[...]) { resourceSpans in
            each(2, of: resourceSpans) { scopeSpans in
                each(2, of: scopeSpans) { span in
                    each(5, of: span) { names.append(String(decoding: $0, as: UTF8.self)) }
                }
            }
        }
        return names
    }
}

/// An exporter with its counters and its log.
struct ExporterFixture {
    let exporter: TraceExporter
    let log = LogCollector()
    private let registry = MetricsRegistry()

    init(
        _ address: String, _ variables: [String: String] = [:], stopNanoseconds: UInt64 = 60_000_000_000
    ) throws {
        // A collector stalls until the test says otherwise, however slow the machine is.
        let environment = [
            "OTEL_EXPORTER_OTLP_ENDPOINT": address, "OTEL_BSP_SCHEDULE_DELAY": "0",
            "OTEL_EXPORTER_OTLP_TIMEOUT": "3600000", "OTEL_BSP_EXPORT_TIMEOUT": "3600000",
        ]
        let configuration = try #require(
            try TraceExportConfiguration(environment: environment.merging(variables) { $1 }) { _ in true })
        exporter = try TraceExporter(
            configuration,
            from: .init(resource: [SpanAttribute("service.name", "apus")], scopeName: "apus", scopeVersion: "1.2.3"),
            userAgent: "apus/1.2.3", metrics: TraceExportMetrics(registry), logger: log.logger,
            stopNanoseconds: stopNanoseconds)
    }

    var exported: Int { value("apus_trace_spans_exported_total ") }
    var failures: Int { value("apus_trace_export_failures_total ") }
    var waiting: Int { value("apus_trace_spans_waiting ") }

    func dropped(_ reason: String) -> Int { value("apus_trace_spans_dropped_total{reason=\"\(reason)\"} ") }

    private func value(_ prefix: String) -> Int {
        let line = registry.render().split(separator: "\n").first { $0.hasPrefix(prefix) }
        return line.flatMap { Int($0.dropFirst(prefix.count)) } ?? -1
    }
}
