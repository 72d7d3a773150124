/// Takes what a `DeliverySource` receives; called on the source's own thread, so it must only pass things on.
public protocol DeliveryHandler: AnyObject, Sendable {
    /// A batch of deliveries, in the broker's order. Unacknowledged ones never number more than the prefetch.
    func deliveriesReceived(_ deliveries: [Delivery])

    /// The source connected, began to consume, or lost the broker.
    func sourceStateChanged(_ state: DeliverySourceState)
}
