/// Why a private server of the tests could not be started or told to do something.
public struct PrivateServerFailure: Error, CustomStringConvertible, Sendable {
    /// What failed, and what to do.
    public let description: String

    /// Describes a failure.
    public init(_ description: String) { self.description = description }
}
