import TraceExport
import Tracing

/// Reads the context of a trace, the answer of a collector, and OpenTelemetry's environment variables.
///
/// The first part is a `traceparent`, the second a `tracestate`, the third the body of an answer, whose status is a
/// choice. The others are values of variables. A context that is read must be read again as it is written, and no text
/// for the log or for an operator may be long, unprintable, or repeat what may be a secret.
struct TraceFuzzTarget: FuzzTarget {
    private static let names = [
        "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_TIMEOUT",
        "OTEL_RESOURCE_ATTRIBUTES", "OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG", "OTEL_BSP_MAX_QUEUE_SIZE",
        "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "OTEL_BSP_SCHEDULE_DELAY", "OTEL_EXPORTER_OTLP_HEADERS",
    ]
    private static let secret = "hunter2"

    func run(_ input: FuzzInput) throws(FuzzFailure) {
        var input = input
        let parts = input.parts + [[], []]
        try readContext(parts[0], parts[1])
        try readAnswer(parts[2], status: input.choice([200, 202, 400, 429, 500, 503]))
        try readVariables(input.parts.dropFirst(3).map { String(decoding: $0, as: UTF8.self) })
    }

    private func readContext(_ parent: [UInt8], _ state: [UInt8]) throws(FuzzFailure) {
        if let context = parent.withUnsafeBufferPointer({ TraceContext(traceParent: $0) }) {
            let text = context.traceParent
            try promise(text.utf8.count == 55, "\(text) is no traceparent of version 00")
            try promise(TraceContext(traceParent: text) == context, "\(text) is read as another context")
        }
        guard let state = state.withUnsafeBufferPointer({ TraceState($0) }) else { return }
        let isPrintable = state.text.utf8.allSatisfy { (0x20...0x7e).contains($0) || $0 == 0x09 }
        try promise(isPrintable && state.text.utf8.count <= TraceState.bytesMaximum, "\(state.text) is handed on")
        try promise(TraceState(state.text) == state, "\(state.text) is read as another state")
    }

    private func readAnswer(_ body: [UInt8], status: Int) throws(FuzzFailure) {
        let text: String
        switch TraceExportAnswer(status: status, body: body) {
        case .taken(let count, let reason):
            try promise(status < 300 && count >= 0, "\(status) takes all spans but \(count)")
            text = reason
        case .retryable(let reason), .refused(let reason):
            try promise(status >= 300, "\(status) is a success")
            text = reason
        }
        try promise(text.isPrintable && text.utf8.count < 2_000, "the reason is \(text.debugDescription)")
    }

    private func readVariables(_ values: [String]) throws(FuzzFailure) {
        var environment = Dictionary(uniqueKeysWithValues: zip(Self.names, values))
        let headers = environment["OTEL_EXPORTER_OTLP_HEADERS"].map { "\($0)=\(Self.secret)" }
        environment["OTEL_EXPORTER_OTLP_HEADERS"] = headers
        let read: TraceExportConfiguration?
        do {
            read = try TraceExportConfiguration(environment: environment) { _ in false }
        } catch {
            let text = error.description
            try promise(text.isPrintable && text.utf8.count < 1_000, "the error is \(text.debugDescription)")
            return try promise(!text.contains(Self.secret), "the error repeats a secret: \(text)")
        }
        guard let read else { return }
        let isBounded = (1...read.limits.queueMaximum).contains(read.limits.batchMaximum)
        try promise(isBounded && read.path.hasPrefix("/"), "\(read.limits) and \(read.path) are in force")
        try promise(read.fields.allSatisfy { $0.name.isPrintable && $0.value.isPrintable }, "a field is no field")
    }
}

extension String {
    /// Whether a terminal shows it as it is.
    fileprivate var isPrintable: Bool {
        unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }
}
