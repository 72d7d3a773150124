import AMQP

/// Which endpoint to try next, and how long to wait before: exponential with full jitter, so that a fleet that lost its
/// broker at once does not come back at once.
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

    /// A connection is of use: the next failure is the first again.
    mutating func succeeded() { failures = 0 }
}
