/// One of the things that health depends on.
public struct HealthCheck: Hashable, Sendable {
    /// What is looked at, for example `consuming`.
    public let name: String
    /// Nil if all is well, else what is wrong, for an operator to read.
    public let failure: String?

    /// Creates a check.
    public init(_ name: String, failure: String?) {
        self.name = name
        self.failure = failure
    }
}
