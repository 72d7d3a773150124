import Essentials
import HTTPClient
import Tracing

/// Reads OpenTelemetry's environment variables, one group after the other.
struct TraceVariables {
    /// A variable that is set.
    struct Variable {
        let name: String
        let value: String

        func error(_ rule: String) -> TraceConfigurationError { TraceConfigurationError(name, value, rule) }
    }

    /// The longest span of time in a variable, in milliseconds: an hour.
    static let millisecondsMaximum: UInt64 = 3_600_000
    private static let queueMaximum = 1_000_000

    private let environment: [String: String]

    init(_ environment: [String: String]) { self.environment = environment }

    /// A variable; an empty one counts as none.
    func variable(_ name: String) -> Variable? {
        guard let value = environment[name], !value.isEmpty else { return nil }
        return Variable(name: name, value: value)
    }

    /// A variable of the exporter: that for traces, else that for all signals.
    func ofTraces(_ name: String) -> Variable? {
        variable("OTEL_EXPORTER_OTLP_TRACES_\(name)") ?? variable("OTEL_EXPORTER_OTLP_\(name)")
    }

    // MARK: Whether, and where to

    /// Whether traces may be exported.
    var isOn: Bool {
        get throws(TraceConfigurationError) {
            if let variable = variable("OTEL_SDK_DISABLED") {
                switch variable.value.lowercased() {
                case "true": return false
                case "false": break
                default: throw variable.error("true or false")
                }
            }
            guard let variable = variable("OTEL_TRACES_EXPORTER") else { return true }
            switch variable.value.lowercased() {
            case "otlp": return true
            case "none": return false
            default: throw variable.error("otlp or none, because this program has no other exporter")
            }
        }
    }

    /// The address; nil if none is set.
    var address: PostAddress? {
        get throws(TraceConfigurationError) {
            if let variable = variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") { return try endpoint(variable) }
            guard let variable = variable("OTEL_EXPORTER_OTLP_ENDPOINT") else { return nil }
            var endpoint = try endpoint(variable)
            endpoint.path += endpoint.path.hasSuffix("/") ? "v1/traces" : "/v1/traces"
            return endpoint
        }
    }

    private func endpoint(_ variable: Variable) throws(TraceConfigurationError) -> PostAddress {
        guard let endpoint = PostAddress(variable.value) else {
            // An address with a password must not reach a log.
            throw TraceConfigurationError(variable.name, secretValue: PostAddress.expected)
        }
        return endpoint
    }

    /// Refuses what this program cannot do.
    func requireSupport() throws(TraceConfigurationError) {
        if let variable = ofTraces("PROTOCOL"), variable.value.lowercased() != "http/protobuf" {
            throw variable.error("http/protobuf, the only protocol of this program; collectors serve it at port 4318")
        }
        if let variable = ofTraces("COMPRESSION"), variable.value.lowercased() != "none" {
            throw variable.error("none, because this program does not compress spans")
        }
        for name in ["CLIENT_KEY", "CLIENT_CERTIFICATE"] {
            guard let variable = ofTraces(name) else { continue }
            throw variable.error("unset, because this program has no certificate for collectors; use headers")
        }
    }

    /// The header fields.
    var fields: [(name: String, value: String)] {
        get throws(TraceConfigurationError) {
            guard let variable = ofTraces("HEADERS") else { return [] }
            let pairs = Self.pairs(variable.value) ?? []
            let areGood = pairs.allSatisfy { name, value in
                name.utf8.allSatisfy { (0x21...0x7e).contains($0) && $0 != UInt8(ascii: ":") }
                    && value.utf8.allSatisfy { (0x20...0x7e).contains($0) }
            }
            guard !pairs.isEmpty, areGood else {
                throw TraceConfigurationError(
                    variable.name, secretValue: "NAME=VALUE,NAME=VALUE in ASCII, other signs as %XX")
            }
            return pairs
        }
    }

    // MARK: Samplers and limits

    var sampler: Sampler {
        get throws(TraceConfigurationError) {
            guard let variable = variable("OTEL_TRACES_SAMPLER") else { return Sampler(.alwaysOn, isParentBased: true) }
            switch variable.value.lowercased() {
            case "always_on": return Sampler(.alwaysOn, isParentBased: false)
            case "always_off": return Sampler(.alwaysOff, isParentBased: false)
            case "traceidratio": return Sampler(.ratio(try ratio), isParentBased: false)
            case "parentbased_always_on": return Sampler(.alwaysOn, isParentBased: true)
            case "parentbased_always_off": return Sampler(.alwaysOff, isParentBased: true)
            case "parentbased_traceidratio": return Sampler(.ratio(try ratio), isParentBased: true)
            default:
                throw variable.error(
                    "always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off or"
                        + " parentbased_traceidratio")
            }
        }
    }

    private var ratio: Double {
        get throws(TraceConfigurationError) {
            guard let variable = variable("OTEL_TRACES_SAMPLER_ARG") else { return 1 }
            guard let ratio = Double(variable.value), (0...1).contains(ratio) else {
                throw variable.error("a number from 0 to 1")
            }
            return ratio
        }
    }

    var resource: [SpanAttribute] {
        get throws(TraceConfigurationError) {
            var pairs: [(name: String, value: String)] = []
            if let variable = variable("OTEL_RESOURCE_ATTRIBUTES") {
                guard let read = Self.pairs(variable.value) else {
                    throw variable.error("NAME=VALUE,NAME=VALUE, with a comma and an equals sign as %2C and %3D")
                }
                pairs = read
            }
            if let variable = variable("OTEL_SERVICE_NAME") {
                pairs.removeAll { $0.name == "service.name" }
                pairs.append(("service.name", variable.value))
            }
            return pairs.map { SpanAttribute($0.name, $0.value) }
        }
    }

    // MARK: Bounds

    var limits: TraceExportLimits {
        get throws(TraceConfigurationError) {
            var limits = TraceExportLimits()
            if let variable = variable("OTEL_BSP_MAX_QUEUE_SIZE") {
                limits.queueMaximum = try count(variable, maximum: Self.queueMaximum)
            }
            limits.batchMaximum = min(limits.batchMaximum, limits.queueMaximum)
            if let variable = variable("OTEL_BSP_MAX_EXPORT_BATCH_SIZE") {
                // The size of a message to the collector is bounded by that of its batch.
                limits.batchMaximum = try count(variable, maximum: min(limits.queueMaximum, 10_000))
            }
            let delay = try milliseconds(variable("OTEL_BSP_SCHEDULE_DELAY"), fallback: 5_000)
            limits.delayNanoseconds = delay * 1_000_000
            let life = try milliseconds(variable("OTEL_BSP_EXPORT_TIMEOUT"), fallback: 30_000)
            limits.batchLifeNanoseconds = (life == 0 ? Self.millisecondsMaximum : life) * 1_000_000
            return limits
        }
    }

    private func count(_ variable: Variable, maximum: Int) throws(TraceConfigurationError) -> Int {
        guard let count = Self.wholeNumber(variable.value), (1...maximum).contains(count) else {
            throw variable.error("a whole number from 1 to \(maximum)")
        }
        return count
    }

    /// A span of time.
    func milliseconds(_ variable: Variable?, fallback: UInt64) throws(TraceConfigurationError) -> UInt64 {
        guard let variable else { return fallback }
        guard let count = Self.wholeNumber(variable.value).flatMap({ UInt64(exactly: $0) }),
            count <= Self.millisecondsMaximum
        else { throw variable.error("a whole number of milliseconds, at most \(Self.millisecondsMaximum)") }
        return count
    }

    /// Reads digits, and no sign.
    private static func wholeNumber(_ text: String) -> Int? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
    }

    /// Reads `name=value,name=value` with `%XX` (W3C Baggage, without properties).
    ///
    /// - Parameter text: the list; blanks around names and values do not count.
    /// - Returns: the pairs; nil if one is malformed.
    static func pairs(_ text: String) -> [(name: String, value: String)]? {
        var pairs: [(String, String)] = []
        for member in text.split(separator: ",", omittingEmptySubsequences: true) {
            let parts = member.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let name = decoded(parts[0]), !name.isEmpty, let value = decoded(parts[1]) else {
                return nil
            }
            pairs.append((name, value))
        }
        return pairs
    }

    private static func decoded(_ text: Substring) -> String? {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        let trimmed = text.utf8.drop(while: isBlank).reversed().drop(while: isBlank).reversed()
        return PercentEncoding.decode(String(decoding: Array(trimmed), as: UTF8.self))
    }
}
