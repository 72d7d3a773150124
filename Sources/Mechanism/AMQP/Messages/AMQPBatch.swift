/// What was read in one go.
struct AMQPBatch {
    /// Whole deliveries, in the broker's order.
    var deliveries: [AMQPDelivery] = []
    /// Everything else, in the broker's order.
    var events: [AMQPEvent] = []
}
