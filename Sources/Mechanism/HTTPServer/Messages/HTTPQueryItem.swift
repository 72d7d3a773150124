/// One part of a query: `name=value`, percent-decoded.
public struct HTTPQueryItem: Hashable, Sendable {
    /// The name.
    public let name: String
    /// The value; empty if there is no equals sign.
    public let value: String

    /// Creates an item.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}
