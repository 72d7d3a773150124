/// Whether a route of a `PushTransport` leads to the push service, as far as is known.
public struct RouteChange: Hashable, Sendable {
    /// The route.
    public var route: Int
    /// Whether there is a connection; false if connecting failed again and again, or pushes waited in vain.
    public var isReachable: Bool

    /// Creates a change.
    public init(route: Int, isReachable: Bool) {
        self.route = route
        self.isReachable = isReachable
    }
}
