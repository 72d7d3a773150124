public import ConnectionPool
public import ServiceClient

/// The configuration of a `WebPushClient`.
public struct WebPushConfiguration: Sendable {
    /// An app that pushes to browsers.
    public struct App: Sendable {
        /// The name of the app, for logs and metrics.
        public var name: String
        /// Signs its tokens: the VAPID key and the subject.
        ///
        /// Apps with the same key should share one source.
        public var tokens: VAPIDTokenSource

        /// Creates an app.
        public init(name: String, tokens: VAPIDTokenSource) {
            self.name = name
            self.tokens = tokens
        }
    }

    /// The push services of the large browsers: hosts, or suffixes that begin with a dot.
    public static let largeServices = [
        "fcm.googleapis.com", "updates.push.services.mozilla.com", ".push.apple.com", ".notify.windows.com",
    ]

    /// The apps; the index of an app in this array is the `route` of its `PushRequest`s.
    public var apps: [App]
    /// Hosts with the limits of `knownLimits`: names in small letters, or suffixes that begin with a dot.
    public var knownHosts = largeServices
    /// Whether pushes go to known hosts only.
    public var refusesUnknownHosts = false
    /// Hosts whose addresses and ports are not checked, in small letters: a simulator, or a service in the own network.
    ///
    /// With a port (`localhost:8443`), only that port of the host is trusted.
    public var trustedHosts: Set<String> = []
    /// To which addresses other hosts may lead.
    public var addressPolicy = AddressPolicy()
    /// The bounds of the pool of a known origin.
    public var knownLimits = limits(connectionsMaximum: 8, outstandingMaximum: 16_384)
    /// The bounds of the pool of any other origin.
    public var unknownLimits = limits(connectionsMaximum: 1, outstandingMaximum: 256)
    /// How many origins of all apps may have a pool at the same time.
    public var originsMaximum = 128
    /// How many threads encrypt.
    public var encryptionThreads = 1
    /// How many pushes may wait for encryption; one more ends at once as not processed.
    public var encryptionWaitingMaximum = 16_384
    /// The HTTP proxy to go through, which then decides what addresses names have; nil for none.
    public var proxy: HTTPProxy?
    /// A PEM file with certificates to trust besides the system's.
    public var extraTrustAnchorsFile: String?
    /// The longest time that `close` waits for answers to pushes in flight, in nanoseconds.
    public var closeTimeoutNanoseconds: UInt64 = 5_000_000_000
    /// The seed of the pools' jitter; nil draws one.
    public var seed: UInt64?

    /// Creates a configuration with the default bounds.
    public init(apps: [App]) { self.apps = apps }

    private static func limits(connectionsMaximum: Int, outstandingMaximum: Int) -> PoolLimits {
        var limits = PoolLimits()
        // The first connection is made for a push, and the last one closes when it has been idle.
        limits.connections = 0
        limits.connectionsMaximum = connectionsMaximum
        limits.outstandingMaximum = outstandingMaximum
        limits.endsWaitingOnUnusableEndpoint = true
        return limits
    }

    /// Whether an endpoint is used without a look at its addresses and its port.
    func trusts(host: String, port: UInt16) -> Bool {
        // An address of IPv6 followed by a port reads as another address.
        trustedHosts.contains(host) || !host.contains(":") && trustedHosts.contains("\(host):\(port)")
    }

    /// Whether an origin has the limits of known ones.
    func isKnown(_ origin: WebPushOrigin) -> Bool {
        let host = origin.host
        return trusts(host: host, port: origin.port)
            || knownHosts.contains { $0.hasPrefix(".") ? host.hasSuffix($0) : host == $0 }
    }

    /// Which addresses of a host may be connected to; nil for all.
    func admission(toHost host: String, port: UInt16) -> (@Sendable ([UInt8]) -> Bool)? {
        guard !trusts(host: host, port: port) else { return nil }
        return { [addressPolicy] in addressPolicy.allows($0) }
    }
}
