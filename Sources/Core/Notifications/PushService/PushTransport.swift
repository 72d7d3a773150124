/// Sends pushes.
///
/// All methods may be called from any thread.
public protocol PushTransport: AnyObject, Sendable {
    /// Begins to connect; results go to the handler.
    func start(handler: any PushTransportHandler)

    /// Sends pushes; each gets exactly one result. How many may be outstanding is the sender's to limit.
    func send(_ requests: [PushRequest])

    /// Closes every connection; what is still outstanding ends as ambiguous or not processed.
    func close() async
}
