/// Where the outcomes of one app come from.
///
/// All methods may be called from any thread.
public protocol OutcomeSource: AnyObject, Sendable {
    /// Connects, and goes on connecting for as long as it takes; outcomes go to the handler.
    func start(handler: any DeliveryHandler)

    /// Acknowledges outcomes, in any order; tags of an earlier connection are ignored.
    func settle(_ tags: [DeliveryTag])

    /// Writes the last acknowledgements and closes the connection; other outcomes go back to their queue.
    func close() async
}
