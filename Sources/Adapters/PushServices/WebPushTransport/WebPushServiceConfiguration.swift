public import ConnectionPool
public import Notifications
public import ServiceClient

/// The configuration of a `WebPushServiceClient`.
public struct WebPushServiceConfiguration: Sendable {
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

    /// The apps; the index of an app in this array is the `route` of its `PushRequest`s.
    public var apps: [App]
    /// To which hosts pushes go; known ones have the limits of `knownLimits`.
    public var hosts = PushHostRule()
    /// The bounds of the pool of a known origin.
    public var knownLimits = limits(connectionsMaximum: 8, outstandingMaximum: 16_384)
    /// The bounds of the pool of any other origin.
    public var unknownLimits = limits(connectionsMaximum: 1, outstandingMaximum: 256)
    /// How many origins of all apps may have a pool at the same time, beside those that `hosts` knows by name.
    public var originsMaximum = 128
    /// The deadline of pushes to an origin that has not accepted any, unless that of its pool is shorter.
    public var unprovenDeadlineNanoseconds: UInt64 = 5_000_000_000
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

    /// Which addresses of a host may be connected to; nil for all.
    func admission(toHost host: String, port: UInt16) -> (@Sendable ([UInt8]) -> Bool)? {
        guard !hosts.trusts(host: host, port: port) else { return nil }
        return { [policy = hosts.addressPolicy] in policy.allows($0) }
    }
}
