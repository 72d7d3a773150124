/// A message of the broker: what was published, whole.
public struct Message: Hashable, Sendable {
    /// The standard properties.
    public var properties: MessageProperties
    /// The headers, in order.
    public var headers: [MessageHeader]
    /// The body.
    public var body: [UInt8]

    /// Creates a message.
    public init(properties: MessageProperties = MessageProperties(), headers: [MessageHeader] = [], body: [UInt8]) {
        self.properties = properties
        self.headers = headers
        self.body = body
    }

    /// The first header of that name, compared to the letter.
    public func header(_ name: String) -> HeaderValue? {
        for header in headers where header.name == name { return header.value }
        return nil
    }
}
