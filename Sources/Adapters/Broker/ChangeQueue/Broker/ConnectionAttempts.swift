import AMQP
import ChangeEvents
import Metrics
import StructuredLogging

/// The next endpoint and the delay before it: exponential with full jitter, so that a fleet does not come back at once.
struct ConnectionAttempts {
    private let endpoints: [AMQPEndpoint]
    private let baseSeconds: Double
    private let maximumSeconds: Double
    private var round: [AMQPEndpoint] = []
    private var failures = 0

    init(_ configuration: BrokerConfiguration) {
        endpoints = configuration.endpoints
        baseSeconds = configuration.reconnectBaseSeconds
        maximumSeconds = configuration.reconnectMaximumSeconds
    }

    /// The endpoint to try now; all have their turn before one comes again.
    mutating func nextEndpoint() -> AMQPEndpoint {
        if round.isEmpty { round = endpoints.shuffled() }
        return round.removeLast()
    }

    /// How long to wait before the next attempt, in nanoseconds.
    mutating func failed() -> UInt64 {
        let limit = min(maximumSeconds, baseSeconds * Double(1 << min(failures, 20)))
        failures += 1
        return UInt64(Double.random(in: 0...max(limit, 0.001)) * 1_000_000_000)
    }

    /// A connection is usable: the next failure counts as the first.
    mutating func succeeded() { failures = 0 }
}

extension AMQPError {
    /// Returns the fields of the log line about a connection that the error ended.
    func fields(retryNanoseconds: UInt64) -> [LogField] {
        [
            .field("cause", code.label), .field("reason", message),
            .field("retrySeconds", Double(retryNanoseconds) / 1_000_000_000),
        ]
    }

    /// The state of a consumer whose connection it has ended.
    var sourceState: DeliverySourceState {
        switch code {
        case .refused: .refused(reason: message)
        case _ where code.needsOperator: .misconfigured(reason: message)
        default: .interrupted(reason: message)
        }
    }
}

/// The metrics of one of the connections.
struct ConnectionMetrics {
    private let connected: Gauge
    private let reconnects: [AMQPError.Code: Counter]

    init(_ registry: MetricsRegistry, connection: String) {
        let label = MetricsRegistry.Label("connection", connection)
        connected = registry.gauge(
            "apus_amqp_connected", help: "1 while the connection to RabbitMQ is usable.", labels: [label])
        reconnects = Dictionary(
            uniqueKeysWithValues: AMQPError.Code.allCases.map { code in
                let counter = registry.counter(
                    "apus_amqp_reconnects_total",
                    help: "Reconnects to RabbitMQ, by reason.",
                    labels: [label, MetricsRegistry.Label("reason", code.label)])
                return (code, counter)
            })
    }

    func becameUsable() { connected.set(1) }

    func ended() { connected.set(0) }

    func failed(_ error: AMQPError) {
        connected.set(0)
        reconnects[error.code]?.add()
    }
}

extension AMQPError.Code {
    /// How the kind of failure is called in a metric and in a log.
    var label: String {
        switch self {
        case .refused: "refused"
        case .unreachable: "unreachable"
        case .missing: "missing"
        case .different: "different"
        case .tlsFailed: "tls"
        case .locked: "locked"
        case .protocolViolation: "protocol"
        case .timedOut: "timeout"
        case .closed: "closed"
        case .consumerEnded: "consumer_ended"
        case .invalid: "invalid"
        }
    }

    /// How severe a line of the log about it is.
    var logLevel: LogLevel { needsOperator ? .error : .warning }

    /// Whether it takes an operator: waiting alone will not make it work.
    var needsOperator: Bool {
        switch self {
        case .refused, .missing, .different, .tlsFailed, .invalid: true
        case .unreachable, .locked, .protocolViolation, .timedOut, .closed, .consumerEnded: false
        }
    }
}
