import Essentials
public import HTTPClient
public import Tracing

/// How traces are exported, as the standard environment variables of OpenTelemetry say.
///
/// In one point this is stricter than the standard: a value that cannot be read is an error, and not passed over.
/// Sources: "Environment Variable Specification" and "OpenTelemetry Protocol Exporter" of the standard.
public struct TraceExportConfiguration: Sendable {
    /// Where spans go.
    public var destination: PostDestination
    /// The path and the query of the address.
    public var path: String
    /// Header fields for each request; the values may be secrets.
    public var fields: [(name: String, value: String)]
    /// How long one attempt may take, in nanoseconds.
    public var attemptTimeoutNanoseconds: UInt64
    /// The bounds of queue and batches.
    public var limits: TraceExportLimits
    /// Which traces are recorded.
    public var sampler: Sampler
    /// The facts about the service that the variables name, `service.name` among them.
    public var resource: [SpanAttribute]

    /// The address without path, as a log may show it.
    public var endpoint: String {
        let host = destination.host.contains(":") ? "[\(destination.host)]" : destination.host
        return "\(destination.isEncrypted ? "https" : "http")://\(host):\(destination.port)"
    }
}

/// The bounds of an exporter.
public struct TraceExportLimits: Hashable, Sendable {
    /// The most spans that wait.
    public var queueMaximum = 2_048
    /// The most spans of a batch, at most `queueMaximum`.
    public var batchMaximum = 512
    /// How long a span may wait for others, in nanoseconds.
    public var delayNanoseconds: UInt64 = 5_000_000_000
    /// How long a batch may be tried, from its first attempt to the beginning of its last, in nanoseconds.
    public var batchLifeNanoseconds: UInt64 = 30_000_000_000

    /// Creates the usual bounds.
    public init() {}
}

/// A variable whose value cannot be used.
public struct TraceConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of the variable.
    public let variable: String
    /// The variable, its value unless that may be a secret, and the rule.
    public let description: String

    init(_ variable: String, _ value: String, _ rule: String) {
        self.variable = variable
        description = "\(variable) is \(value.excerpt); it must be \(rule)"
    }

    init(_ variable: String, secretValue rule: String) {
        self.variable = variable
        description = "\(variable) cannot be read; it must be \(rule)"
    }
}

extension TraceExportConfiguration {
    /// Reads the variables; nil if traces are not exported: no address is set, or the variables say so.
    ///
    /// - Parameters:
    ///   - environment: the variables of the process.
    ///   - isReadable: tells whether a file can be read.
    /// - Throws: `TraceConfigurationError`, for the first value that cannot be used.
    public init?(
        environment: [String: String], isReadable: (String) -> Bool
    ) throws(TraceConfigurationError) {
        let reader = TraceVariables(environment)
        guard try reader.isOn, let address = try reader.address else { return nil }
        try reader.requireSupport()
        destination = address.destination
        path = address.path
        fields = try reader.fields
        limits = try reader.limits
        sampler = try reader.sampler
        resource = try reader.resource
        // 0 is no limit, which is the longest here.
        let timeout = try reader.milliseconds(reader.ofTraces("TIMEOUT"), fallback: 10_000)
        attemptTimeoutNanoseconds = (timeout == 0 ? TraceVariables.millisecondsMaximum : timeout) * 1_000_000
        guard let certificate = reader.ofTraces("CERTIFICATE") else { return }
        guard isReadable(certificate.value) else {
            throw TraceConfigurationError(
                certificate.name, certificate.value, "a file of PEM certificates that this process can read")
        }
        destination.caFile = certificate.value
    }
}
