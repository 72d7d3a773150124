/// Where a server listens, what it is called in messages, and what it takes.
public struct HTTPServerConfiguration: Sendable {
    /// A certificate chain and its key.
    public struct TLS: Sendable {
        /// The server's certificate, then those that lead to its trust anchor, as PEM text.
        public var certificateChainPEM: String
        /// The private key of the first certificate as PEM text; a secret.
        public var privateKeyPEM: String

        /// Creates a value; `HTTPServer` tells whether it serves.
        public init(certificateChainPEM: String, privateKeyPEM: String) {
            self.certificateChainPEM = certificateChainPEM
            self.privateKeyPEM = privateKeyPEM
        }
    }

    /// How messages call the server, for example `the admin server`.
    public var name: String
    /// The setting that messages tell the operator to change, for example `admin.listen`.
    public var settingName: String
    /// An address or a name of this machine.
    public var host: String
    /// The port; 0 lets the system choose one.
    public var port: UInt16
    /// TLS 1.2 or newer with this certificate; nil for plain HTTP.
    public var tls: TLS?
    /// How many connections there may be at once; more wait until one is closed.
    public var connectionsMaximum = 64
    /// How long a connection may be silent, in seconds.
    public var idleSecondsMaximum = 10
    /// How long a body may take to come, in seconds, however busy its sender is; then the connection is closed.
    public var bodySecondsMaximum = 30
    /// How much a request line with its header fields may take, in bytes; more is answered with 414 or 431.
    public var headBytesMaximum = 16 * 1_024
    /// How long a body may be, in bytes; more is answered with 413.
    public var bodyBytesMaximum = 64 * 1_024
    /// How many requests may wait for a deferred answer; one more is answered with 503.
    public var deferredRequestsMaximum = 256

    /// Creates a configuration with the limits' defaults.
    public init(name: String, settingName: String, host: String, port: UInt16, tls: TLS? = nil) {
        self.name = name
        self.settingName = settingName
        self.host = host
        self.port = port
        self.tls = tls
    }
}
