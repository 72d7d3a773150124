/// Takes what an `AMQPConnection` receives; called on the connection's loop.
public protocol AMQPConnectionHandler: AnyObject {
    /// Deliveries, in the broker's order: all that one tick brought.
    func deliveriesReceived(_ deliveries: [AMQPDelivery])

    /// Everything else that the broker said, in its order.
    func eventsReceived(_ events: [AMQPEvent])

    /// The connection has ended, by an error; it calls nothing after this. Not called for `close`.
    func connectionLost(_ error: AMQPError)
}
