public import PushCore

/// An exchange or a queue that Apus needs.
public struct TopologyObject: Hashable, Sendable {
    /// The kinds of object.
    public enum Kind: String, Sendable {
        /// Durable topic exchange.
        case topicExchange = "topic exchange"
        /// Durable exchange that spreads messages over queues by a hash of their routing key (a plugin of RabbitMQ).
        case hashExchange = "consistent-hash exchange"
        /// Durable, replicated queue.
        case quorumQueue = "quorum queue"
    }

    /// What it is.
    public let kind: Kind
    /// Its name.
    public let name: String
    /// What it is for, in a few words.
    public let purpose: String
    /// Its arguments, as the broker knows them; none for an exchange.
    public let arguments: [MessageHeader]
    /// To which exchanges the queue or exchange is bound, and by which routing key.
    public let bindings: [Binding]

    /// A binding of a queue or an exchange to an exchange.
    public struct Binding: Hashable, Sendable {
        /// The exchange.
        public let exchange: String
        /// The pattern of routing keys; for a consistent-hash exchange the weight.
        public let routingKey: String
    }
}
