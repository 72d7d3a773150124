/// Where outcomes come from: one queue or several, each known by its index.
///
/// All methods may be called from any thread.
public protocol OutcomeSource: AnyObject, Sendable {
    /// Connects, and goes on connecting for as long as it takes.
    ///
    /// - Parameter take: runs on the source's own thread, so it must only pass events on.
    func start(_ take: @escaping @Sendable (OutcomeSourceEvent) -> Void)

    /// Acknowledges outcomes, in any order; tags of an earlier consumption of the queue are ignored.
    func settle(_ tags: [DeliveryTag], of queue: Int)

    /// Ends the consumption of a queue; its unsettled outcomes go back to it.
    func stopConsuming(_ queue: Int)

    /// Ends the consumption of all queues, and the connection.
    func close() async
}

/// An event of an `OutcomeSource`.
public enum OutcomeSourceEvent: Sendable {
    /// A batch of deliveries of a queue, in the broker's order.
    ///
    /// Unacknowledged deliveries never number more than the prefetch of the queue.
    case received([Delivery], queue: Int)
    /// The consumption of a queue began or ended.
    case changed(DeliverySourceState, queue: Int)
}
