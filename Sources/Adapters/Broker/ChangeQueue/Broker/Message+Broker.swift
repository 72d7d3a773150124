import AMQP
import ChangeEvents
import Messages

extension Message {
    /// The message of a delivery, marked if some of its headers could not be read.
    init(_ delivery: consuming AMQPDelivery) {
        self = delivery.message
        if delivery.hasUnreadableHeaders {
            headers.append(MessageHeader(RetryHeader.unreadableHeaders, .boolean(true)))
        }
    }

    /// The headers that mean something to the broker when a message is published, or that it wrote itself.
    private static let brokerHeaders: Set<String> = [
        "CC", "BCC", "x-death", "x-first-death-exchange", "x-first-death-queue", "x-first-death-reason",
        "x-last-death-exchange", "x-last-death-queue", "x-last-death-reason", "x-delivery-count",
        "x-acquired-count", "x-delay",
    ]

    /// A message fit for publishing: persistent, and without properties that the broker would refuse or act upon.
    ///
    /// The copy does not have the publisher's priority, which counts in quorum queues from RabbitMQ 4.0 on: a retry
    /// would overtake earlier messages, and the dead letters would lose their order.
    init(publishing message: Message, user: String) {
        var properties = message.properties
        properties.deliveryMode = 2
        properties.priority = nil
        if properties.userID != user { properties.userID = nil }
        if let expiration = properties.expiration, UInt32(expiration) == nil { properties.expiration = nil }
        var headers = message.headers
        if headers.contains(where: { Self.brokerHeaders.contains($0.name) }) {
            headers.removeAll { Self.brokerHeaders.contains($0.name) }
        }
        self.init(properties: properties, headers: headers, body: message.body)
    }
}
