/// What an `APNsClient` is made of.
public struct APNsClientConfiguration: Sendable {
    /// The pools; the place of a route in this array is the `route` of a `PushRequest`.
    public var routes: [APNsRoute]
    /// How long `close` waits for answers to what is in flight, in nanoseconds.
    public var closeTimeoutNanoseconds: UInt64 = 5_000_000_000
    /// The seed of the pools' jitter; nil draws one.
    public var seed: UInt64?

    /// Creates a configuration with the default times.
    public init(routes: [APNsRoute]) { self.routes = routes }
}
