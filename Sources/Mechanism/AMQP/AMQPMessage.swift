/// A message: properties, headers and body.
public struct AMQPMessage: Hashable, Sendable {
    /// The standard properties.
    public var properties: AMQPProperties
    /// The headers, in order.
    public var headers: [AMQPHeader]
    /// The body.
    public var body: [UInt8]

    /// Creates a message.
    public init(properties: AMQPProperties = AMQPProperties(), headers: [AMQPHeader] = [], body: [UInt8]) {
        self.properties = properties
        self.headers = headers
        self.body = body
    }
}

/// The standard properties of a message; nil where the publisher set none.
public struct AMQPProperties: Hashable, Sendable {
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
    /// The user that published; the broker refuses another than the connection's own.
    public var userID: String?
    /// The application that published.
    public var appID: String?
    /// A property without a meaning of its own, which the broker hands on; `ConfirmedPublisher` numbers its publishes
    /// in it.
    public var clusterID: String?

    /// Creates empty properties.
    public init() {}
}

/// One entry of a table: a name of up to 255 bytes and a value.
public struct AMQPHeader: Hashable, Sendable {
    /// The name.
    public var name: String
    /// The value.
    public var value: AMQPFieldValue

    /// Creates an entry.
    public init(_ name: String, _ value: AMQPFieldValue) {
        self.name = name
        self.value = value
    }
}

/// A value in a table of AMQP 0-9-1: every type that RabbitMQ knows, each with its letter on the wire.
public enum AMQPFieldValue: Hashable, Sendable {
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
    indirect case array([AMQPFieldValue])
    /// A nested table (`F`).
    indirect case table([AMQPHeader])
    /// No value (`V`).
    case void

    /// How many tables and arrays may lie in each other; a table that is deeper is not read, and not sent.
    public static let depthMaximum = 32
}
