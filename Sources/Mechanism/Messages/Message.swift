/// A complete message of AMQP 0-9-1.
///
/// Copies share their contents: a message passes through many hands and is hardly ever changed.
public struct Message: Hashable, Sendable {
    // The compiler sees into the parts from other modules, so that a look at one field copies no others.
    @usableFromInline
    final class Contents: Sendable {
        @usableFromInline let properties: MessageProperties
        @usableFromInline let headers: [MessageHeader]
        @usableFromInline let body: [UInt8]

        init(properties: MessageProperties, headers: [MessageHeader], body: [UInt8]) {
            self.properties = properties
            self.headers = headers
            self.body = body
        }
    }

    @usableFromInline private(set) var contents: Contents

    /// The standard properties.
    public var properties: MessageProperties {
        @inlinable get { contents.properties }
        set { contents = Contents(properties: newValue, headers: headers, body: body) }
    }
    /// The headers, in order.
    public var headers: [MessageHeader] {
        @inlinable get { contents.headers }
        set { contents = Contents(properties: properties, headers: newValue, body: body) }
    }
    /// The body.
    public var body: [UInt8] {
        @inlinable get { contents.body }
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
    public init(_ name: String, _ value: HeaderValue) {
        self.name = name
        self.value = value
    }
}

/// A value in a table of AMQP 0-9-1: every type that RabbitMQ knows, each with its letter on the wire.
///
/// With all of them a message can be passed on intact.
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

    /// How many tables and arrays may lie in each other; a table that is deeper is not read, and not sent.
    public static let depthMaximum = 32
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
    /// The user that published; the broker refuses another than the connection's own.
    public var userID: String?
    /// The application that published.
    public var appID: String?

    /// Creates empty properties.
    public init() {}
}
