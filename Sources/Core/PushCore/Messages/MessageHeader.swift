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
