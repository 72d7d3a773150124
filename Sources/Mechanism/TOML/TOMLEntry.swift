/// A name in a TOML table and its value.
public struct TOMLEntry: Hashable, Sendable {
    /// The name.
    public let key: String
    /// The value.
    public let node: TOMLNode

    /// Creates an entry.
    public init(key: String, node: TOMLNode) {
        self.key = key
        self.node = node
    }
}
