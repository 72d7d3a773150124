import EventLoop

/// How to connect, and how long to wait for what.
public struct AMQPOptions: Hashable, Sendable {
    /// How the connection is called in the broker's own tools.
    public var connectionName = "apus"
    /// A file of PEM certificates to trust beside the system's, for `amqps`; empty for none.
    public var caFile = ""
    /// After how many seconds of silence each side sends a heartbeat.
    ///
    /// Two such intervals without a byte end the connection.
    public var heartbeatSeconds = 20
    /// How long TCP and TLS may take to connect, in seconds, and as long again for the login.
    public var connectTimeoutSeconds = 5
    /// How long the broker may take to answer a request, in seconds.
    public var callTimeoutSeconds = 10
    /// The time that a single write may block before the connection is closed, in seconds.
    public var stallLimitSeconds = 10.0
    /// How long sent bytes may stay unacknowledged by the peer's kernel, in seconds (`TCP_USER_TIMEOUT`).
    public var silenceLimitSeconds = 25

    /// Whether deliveries may have headers longer than the agreed frame size, because the broker adds its own
    /// (`x-death`, `x-delivery-count`).
    ///
    /// Such a session must turn confirms on before it publishes.
    public var takesLongHeaders = false

    /// Creates the defaults.
    public init() {}
}
