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

    /// Creates properties of which none is set.
    public init() {}
}
