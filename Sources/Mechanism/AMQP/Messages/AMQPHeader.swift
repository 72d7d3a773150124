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
