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
