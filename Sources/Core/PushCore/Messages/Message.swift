/// A complete message of the broker.
///
/// Copies share their contents: a message passes through many hands and is hardly ever changed.
public struct Message: Hashable, Sendable {
    private final class Contents: Sendable {
        let properties: MessageProperties
        let headers: [MessageHeader]
        let body: [UInt8]

        init(properties: MessageProperties, headers: [MessageHeader], body: [UInt8]) {
            self.properties = properties
            self.headers = headers
            self.body = body
        }
    }

    private var contents: Contents

    /// The standard properties.
    public var properties: MessageProperties {
        get { contents.properties }
        set { contents = Contents(properties: newValue, headers: headers, body: body) }
    }
    /// The headers, in order.
    public var headers: [MessageHeader] {
        get { contents.headers }
        set { contents = Contents(properties: properties, headers: newValue, body: body) }
    }
    /// The body.
    public var body: [UInt8] {
        get { contents.body }
        set { contents = Contents(properties: properties, headers: headers, body: newValue) }
    }

    /// Creates a message.
    public init(properties: MessageProperties = MessageProperties(), headers: [MessageHeader] = [], body: [UInt8]) {
        contents = Contents(properties: properties, headers: headers, body: body)
    }

    /// The first header of that name, compared to the letter.
    public func header(_ name: String) -> HeaderValue? {
        for header in headers where header.name == name { return header.value }
        return nil
    }

    /// Whether both are the same, part by part.
    public static func == (left: Message, right: Message) -> Bool {
        left.contents === right.contents
            || left.body == right.body && left.headers == right.headers && left.properties == right.properties
    }

    /// Feeds every part.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(properties)
        hasher.combine(headers)
        hasher.combine(body)
    }
}

/// One header of a message; a name may occur more than once, and the order is kept.
public struct MessageHeader: Hashable, Sendable {
    /// The name, up to 255 bytes.
    public var name: String
    /// The value.
    public var value: HeaderValue

    /// Creates a header.
    public init(name: String, value: HeaderValue) {
        self.name = name
        self.value = value
    }
}

/// A value in the headers of a message: every type that AMQP 0-9-1 knows, so that a message can be passed on intact.
public enum HeaderValue: Hashable, Sendable {
    /// A boolean (`t`).
    case boolean(Bool)
    /// A signed integer of 8 bits (`b`).
    case int8(Int8)
    /// An unsigned integer of 8 bits (`B`).
    case uint8(UInt8)
    /// A signed integer of 16 bits (`s`).
    case int16(Int16)
    /// An unsigned integer of 16 bits (`u`).
    case uint16(UInt16)
    /// A signed integer of 32 bits (`I`).
    case int32(Int32)
    /// An unsigned integer of 32 bits (`i`).
    case uint32(UInt32)
    /// A signed integer of 64 bits (`l`).
    case int64(Int64)
    /// An unsigned integer of 64 bits (`L`).
    case uint64(UInt64)
    /// A floating-point number of 32 bits (`f`).
    case float32(Float)
    /// A floating-point number of 64 bits (`d`).
    case float64(Double)
    /// A decimal number: `value` divided by ten to the power of `scale` (`D`).
    case decimal(scale: UInt8, value: UInt32)
    /// Seconds since 1970 (`T`).
    case timestamp(UInt64)
    /// A long string (`S`) that is valid UTF-8.
    case string(String)
    /// A long string (`S`) that is not valid UTF-8.
    case rawString([UInt8])
    /// A byte array (`x`).
    case bytes([UInt8])
    /// A list of values (`A`).
    indirect case array([HeaderValue])
    /// A nested table (`F`).
    indirect case table([MessageHeader])
    /// No value (`V`).
    case void
}

/// The standard properties of an AMQP 0-9-1 message; nil where the publisher set none.
public struct MessageProperties: Hashable, Sendable {
    /// The MIME type of the body.
    public var contentType: String?
    /// The encoding of the body.
    public var contentEncoding: String?
    /// 1 is transient, 2 is persistent.
    public var deliveryMode: UInt8?
    /// 0 to 9.
    public var priority: UInt8?
    /// The application's correlation identifier.
    public var correlationID: String?
    /// Where to reply to.
    public var replyTo: String?
    /// Milliseconds to live, as decimal digits.
    public var expiration: String?
    /// The application's message identifier.
    public var messageID: String?
    /// Seconds since 1970.
    public var timestampSeconds: UInt64?
    /// The application's message type.
    public var type: String?
    /// The user that published, checked by the broker.
    public var userID: String?
    /// The application that published.
    public var appID: String?

    /// Creates empty properties.
    public init() {}
}

/// A message that must reach a queue: it counts as requeued only when the broker has confirmed it.
public struct OutgoingMessage: Sendable {
    /// The sender's own number, given back with the outcome.
    public var identifier: UInt64
    /// The exchange; empty for the default exchange, which routes by queue name.
    public var exchange: String
    /// The routing key, or the name of the queue.
    public var routingKey: String
    /// The message to publish; always published as persistent.
    public var message: Message
    /// Whether it may reach no queue at all, and is not published again by itself if the broker refuses it.
    ///
    /// All others are published as mandatory.
    public var isOptional: Bool

    /// Creates an outgoing message.
    public init(
        identifier: UInt64, exchange: String, routingKey: String, message: Message, isOptional: Bool = false
    ) {
        self.identifier = identifier
        self.exchange = exchange
        self.routingKey = routingKey
        self.message = message
        self.isOptional = isOptional
    }
}

/// How a publish ended.
public enum PublishOutcome: Hashable, Sendable {
    /// The broker has it, on disk.
    case confirmed
    /// No queue took it (`basic.return`), with the broker's text; the message is still ours.
    case returned(String)
    /// The broker refused it (`basic.nack`), for example because a queue is full; the message is still ours.
    case refused
    /// The broker refuses this message finally, with the reason; the message is still ours.
    ///
    /// It closed the channel because of the message (`PRECONDITION_FAILED`, for example above its `max_message_size`),
    /// or AMQP cannot express the message.
    case rejected(String)
}
