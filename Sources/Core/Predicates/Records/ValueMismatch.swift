internal import JSON

/// Why some JSON is not the value of a field that it should be.
public struct ValueMismatch: Error {
    /// Where in the value, for example `[3]`; empty for the value itself.
    public let path: String
    /// What is there, without its contents.
    public let found: String
    /// What should be there.
    public let expected: String

    init(_ value: JSONValue, _ expected: String, path: String = "") {
        self.init(found: value.kindDescription, expected, path: path)
    }

    init(found: String, _ expected: String, path: String = "") {
        self.path = path
        self.found = found
        self.expected = expected
    }

    /// The same within something else.
    func under(_ outer: String) -> ValueMismatch { ValueMismatch(found: found, expected, path: outer + path) }
}
