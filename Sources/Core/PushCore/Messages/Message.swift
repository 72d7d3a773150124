/// A message of the broker: what was published, whole.
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
