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

extension [HTTPField] {
    /// The value of the only field of that name, which is given in lower case; nil if there is none or several.
    public func value(_ name: String) -> String? {
        let found = lazy.filter { $0.name == name }.prefix(2)
        return found.count == 1 ? found.first?.value : nil
    }
}
