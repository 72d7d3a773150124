/// Takes the results of a `PushTransport`; called on the transport's own thread, so it must only pass them on.
public protocol PushTransportHandler: AnyObject, Sendable {
    /// Attempts ended, batched by tick.
    func pushesEnded(_ results: [PushResult])

    /// It became known whether routes lead to the push service, batched by tick: each change once, the first one when
    /// it is known for the first time.
    func routesChanged(_ changes: [RouteChange])
}

extension PushTransportHandler {
    /// Does nothing: for a sender whose pushes may wait until their deadline.
    public func routesChanged(_ changes: [RouteChange]) {}
}
