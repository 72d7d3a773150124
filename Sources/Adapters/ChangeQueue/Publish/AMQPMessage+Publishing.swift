import AMQP
import PushCore

extension AMQPMessage {
    /// The headers that mean something to the broker when a message is published, or that it wrote itself.
    private static let brokerHeaders: Set<String> = [
        "CC", "BCC", "x-death", "x-first-death-exchange", "x-first-death-queue", "x-first-death-reason",
        "x-last-death-exchange", "x-last-death-queue", "x-last-death-reason", "x-delivery-count",
        "x-acquired-count", "x-delay",
    ]

    /// A message made fit to be published: persistent, and without what the broker would refuse or act upon.
    ///
    /// Nor has it the publisher's priority, which counts in quorum queues from RabbitMQ 4.0 on: a retry would overtake
    /// what came before it, and the dead letters would not stand in the order in which they came.
    init(publishing message: Message, user: String) {
        self.init(message)
        properties.deliveryMode = 2
        properties.priority = nil
        if properties.userID != user { properties.userID = nil }
        if let expiration = properties.expiration, UInt32(expiration) == nil { properties.expiration = nil }
        if headers.contains(where: { Self.brokerHeaders.contains($0.name) }) {
            headers.removeAll { Self.brokerHeaders.contains($0.name) }
        }
    }
}
