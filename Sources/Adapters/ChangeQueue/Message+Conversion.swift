import AMQP
import PushCore

extension Message {
    init(_ delivery: consuming AMQPDelivery) {
        self.init(
            properties: MessageProperties(delivery.message.properties),
            headers: delivery.message.headers.map { MessageHeader($0) }, body: delivery.message.body)
        if delivery.hasUnreadableHeaders {
            headers.append(MessageHeader(name: RetryHeader.unreadableHeaders, value: .boolean(true)))
        }
    }
}

extension MessageProperties {
    init(_ read: AMQPProperties) {
        self.init()
        contentType = read.contentType
        contentEncoding = read.contentEncoding
        deliveryMode = read.deliveryMode
        priority = read.priority
        correlationID = read.correlationID
        replyTo = read.replyTo
        expiration = read.expiration
        messageID = read.messageID
        timestampSeconds = read.timestampSeconds
        type = read.type
        userID = read.userID
        appID = read.appID
    }
}

extension MessageHeader {
    init(_ header: AMQPHeader) { self.init(name: header.name, value: HeaderValue(header.value)) }
}

extension HeaderValue {
    init(_ value: AMQPFieldValue) {
        self =
            switch value {
            case .boolean(let value): .boolean(value)
            case .int8(let value): .int8(value)
            case .uint8(let value): .uint8(value)
            case .int16(let value): .int16(value)
            case .uint16(let value): .uint16(value)
            case .int32(let value): .int32(value)
            case .uint32(let value): .uint32(value)
            case .int64(let value): .int64(value)
            case .uint64(let value): .uint64(value)
            case .float32(let value): .float32(value)
            case .float64(let value): .float64(value)
            case .decimal(let scale, let value): .decimal(scale: scale, value: value)
            case .timestamp(let value): .timestamp(value)
            case .string(let value): .string(value)
            case .rawString(let value): .rawString(value)
            case .bytes(let value): .bytes(value)
            case .array(let values): .array(values.map { HeaderValue($0) })
            case .table(let headers): .table(headers.map { MessageHeader($0) })
            case .void: .void
            }
    }
}

extension AMQPMessage {
    init(_ message: Message) {
        self.init(
            properties: AMQPProperties(message.properties), headers: message.headers.map { AMQPHeader($0) },
            body: message.body)
    }
}

extension AMQPProperties {
    init(_ read: MessageProperties) {
        self.init()
        contentType = read.contentType
        contentEncoding = read.contentEncoding
        deliveryMode = read.deliveryMode
        priority = read.priority
        correlationID = read.correlationID
        replyTo = read.replyTo
        expiration = read.expiration
        messageID = read.messageID
        timestampSeconds = read.timestampSeconds
        type = read.type
        userID = read.userID
        appID = read.appID
    }
}

extension AMQPHeader {
    init(_ header: MessageHeader) { self.init(header.name, AMQPFieldValue(header.value)) }
}

extension AMQPFieldValue {
    init(_ value: HeaderValue) {
        self =
            switch value {
            case .boolean(let value): .boolean(value)
            case .int8(let value): .int8(value)
            case .uint8(let value): .uint8(value)
            case .int16(let value): .int16(value)
            case .uint16(let value): .uint16(value)
            case .int32(let value): .int32(value)
            case .uint32(let value): .uint32(value)
            case .int64(let value): .int64(value)
            case .uint64(let value): .uint64(value)
            case .float32(let value): .float32(value)
            case .float64(let value): .float64(value)
            case .decimal(let scale, let value): .decimal(scale: scale, value: value)
            case .timestamp(let value): .timestamp(value)
            case .string(let value): .string(value)
            case .rawString(let value): .rawString(value)
            case .bytes(let value): .bytes(value)
            case .array(let values): .array(values.map { AMQPFieldValue($0) })
            case .table(let headers): .table(headers.map { AMQPHeader($0) })
            case .void: .void
            }
    }
}

extension AMQPMessage {
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
