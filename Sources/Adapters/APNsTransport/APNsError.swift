/// The APNs client could not be set up: what is wrong, where, and what to do.
public struct APNsError: Error, Sendable, CustomStringConvertible {
    /// The kinds of failure.
    public enum Code: Hashable, Sendable {
        /// The file of the signing key cannot be read.
        case keyUnreadable
        /// The file holds no usable key.
        case keyInvalid
        /// The key identifier or the team identifier is not what Apple gives out.
        case identifierInvalid
        /// A route's endpoint or trust anchor is unusable.
        case routeInvalid
        /// The URL of a proxy is unusable.
        case proxyInvalid
        /// The operating system gave no thread or no descriptor.
        case systemFailed
        /// A connection could not be made.
        case connectFailed
    }

    /// The kind of failure.
    public let code: Code
    /// What is wrong, where, and what to do.
    public let message: String

    /// Creates an error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
