public import Crypto

/// The address of a server, its name in messages, and its limits.
public struct HTTPServerConfiguration: Sendable {
    /// How messages call the server, for example `the admin server`.
    public var name: String
    /// The setting that messages tell the operator to change, for example `admin.listen`.
    public var settingName: String
    /// An address or a name of this machine.
    public var host: String
    /// The port; 0 lets the system choose one.
    public var port: UInt16
    /// TLS 1.2 or newer with this certificate; nil for plain HTTP.
    public var identity: ServerIdentity?
    /// The hosts that are served; a request for another is answered with 421.
    public var hosts = HTTPHosts.all
    /// How many connections there may be at once.
    ///
    /// One more takes the place of one that waits for its next request, or whose head takes longer than a second; else
    /// it waits.
    public var connectionsMaximum = 64
    /// How many of them one address may have, or one network of 64 bits of IPv6; nil for no limit.
    public var connectionsPerAddressMaximum: Int?
    /// The addresses of proxies that stand before many clients.
    ///
    /// The limit of each address is not for them, and the last address in their `X-Forwarded-For` is the client's.
    public var trustedProxies: [String] = []
    /// How long a request line with its header fields may take to come, in seconds, TLS included; then 408.
    public var headSecondsMaximum = 10
    /// How long a connection may wait for its next request, in seconds.
    public var idleSecondsMaximum = 10
    /// How long a body may take to come, in seconds, however busy its sender is; then 408.
    public var bodySecondsMaximum = 30
    /// How long a client may take to read an answer, in seconds; then the connection is closed.
    public var answerSecondsMaximum = 60
    /// How long a client may take to close after the last answer, in seconds.
    public var lingeringSecondsMaximum = 2
    /// How much a request line with its header fields may take, in bytes; more is answered with 414 or 431.
    public var headBytesMaximum = 16 * 1_024
    /// How long a body may be, in bytes; more is answered with 413.
    public var bodyBytesMaximum = 64 * 1_024
    /// How much of all bodies together may be in memory, in bytes; beyond it the slowest is answered with 503.
    public var bodyBytesInMemoryMaximum = 32 << 20
    /// How much of all answers together may be in memory, in bytes.
    ///
    /// Beyond it the slowest of their readers loses its connection, and an answer that is not yet its connection's
    /// becomes a 503.
    public var answerBytesInMemoryMaximum = 64 << 20
    /// How many requests may wait for a deferred answer; one more is answered with 503.
    public var deferredRequestsMaximum = 256

    /// Creates a configuration with the limits' defaults.
    public init(name: String, settingName: String, host: String, port: UInt16, identity: ServerIdentity? = nil) {
        self.name = name
        self.settingName = settingName
        self.host = host
        self.port = port
        self.identity = identity
    }
}
