/// What a registry did that its port forbids.
public struct RegistryViolation: Error, CustomStringConvertible {
    /// What was expected, and what happened.
    public let description: String

    /// Creates a violation.
    public init(_ description: String) {
        self.description = description
    }
}
