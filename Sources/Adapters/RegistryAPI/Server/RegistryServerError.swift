/// The API cannot be served.
public struct RegistryServerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure.
    public enum Code: Sendable {
        /// The certificate or its key cannot be used.
        case certificateInvalid
        /// The public half of a server key cannot be used.
        case serverKeyInvalid
        /// The address cannot be had, or the system gives no thread.
        case unavailable
    }

    /// The kind of failure.
    public let code: Code
    /// What was wrong, where, and what to do.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
