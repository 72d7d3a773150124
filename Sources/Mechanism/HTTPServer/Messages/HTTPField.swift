/// One header field of a request or a response.
public struct HTTPField: Hashable, Sendable {
    /// The name; in requests it is in lower case.
    public let name: String
    /// The value, without white space around it.
    public let value: String

    /// Creates a field.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}
