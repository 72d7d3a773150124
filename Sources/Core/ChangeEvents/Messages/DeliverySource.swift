/// Where the deliveries of events come from.
///
/// All methods may be called from any thread.
public protocol DeliverySource: AnyObject, Sendable {
    /// Connects, and goes on connecting for as long as it takes; deliveries go to the handler.
    func start(handler: any DeliveryHandler)

    /// Acknowledges deliveries whose work has ended, in any order; tags of an earlier connection are ignored.
    func settle(_ tags: [DeliveryTag])

    /// Rejects deliveries finally, in any order: the broker moves them, unchanged, to its dead letters.
    ///
    /// Tags of an earlier connection are ignored.
    func reject(_ tags: [DeliveryTag])

    /// Takes no new deliveries until `resume`; received ones can still be settled.
    ///
    /// Deliveries under way still arrive.
    func pause()

    /// Takes deliveries again.
    func resume()

    /// Stops new deliveries; received ones can still be settled.
    ///
    /// Returns when the broker has agreed, or the connection is gone.
    func cancel() async

    /// Writes the last acknowledgements and closes the connection; other deliveries go back to their queue.
    func close() async
}

/// Receives the deliveries of a `DeliverySource`; called on the source's own thread, so it must only pass them on.
public protocol DeliveryHandler: AnyObject, Sendable {
    /// A batch of deliveries, in the broker's order. Unacknowledged ones never number more than the prefetch.
    func deliveriesReceived(_ deliveries: [Delivery])

    /// The source connected, began to consume, or lost the broker.
    func sourceStateChanged(_ state: DeliverySourceState)
}

/// The state of a `DeliverySource`, or of one queue of an `OutcomeSource`.
public enum DeliverySourceState: Hashable, Sendable {
    /// Consuming; deliveries carry this epoch from now on.
    case consuming(epoch: UInt32)
    /// Not consuming: connecting, or waiting to connect again. Everything unacknowledged of the last epoch will come
    /// again.
    case interrupted(reason: String)
    /// The broker is there, but a queue is missing or is another kind: an operator has to act. It is tried again.
    case misconfigured(reason: String)
    /// The broker does not admit the user, to itself or to a queue: an operator has to act. It is tried again.
    case refused(reason: String)
    /// Cancelled at our own wish.
    case cancelled

    /// Why nothing is consumed; nil if something is.
    public var problem: String? {
        switch self {
        case .consuming: nil
        case .interrupted(let reason), .misconfigured(let reason), .refused(let reason): reason
        case .cancelled: "stopped"
        }
    }
}
