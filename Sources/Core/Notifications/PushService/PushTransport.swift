/// Sends pushes.
///
/// All methods may be called from any thread.
public protocol PushTransport: AnyObject, Sendable {
    /// Begins to connect; results go to the handler.
    func start(handler: any PushTransportHandler)

    /// Sends pushes; each gets exactly one result. How many may be outstanding is the sender's to limit.
    func send(_ requests: [PushRequest])

    /// Closes every connection; outstanding pushes end as ambiguous or not processed.
    func close() async
}

/// Takes the results of a `PushTransport`; called on the transport's own thread, so it must only pass them on.
public protocol PushTransportHandler: AnyObject, Sendable {
    /// Attempts ended, batched by tick.
    func pushesEnded(_ results: [AttemptResult])

    /// It became known whether routes lead to the push service, batched by tick: each change once, the first one when
    /// it is known for the first time.
    func routesChanged(_ changes: [RouteChange])
}

extension PushTransportHandler {
    /// Does nothing: for a sender whose pushes may wait until their deadline.
    public func routesChanged(_ changes: [RouteChange]) {}
}

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
