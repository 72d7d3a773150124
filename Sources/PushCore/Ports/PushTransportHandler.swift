/// Takes the results of a `PushTransport`; called on the transport's own thread, so it must only pass them on.
public protocol PushTransportHandler: AnyObject, Sendable {
    /// Attempts ended, batched by tick.
    func pushesEnded(_ results: [PushResult])
}
