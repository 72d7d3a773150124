/// The admin server cannot begin to serve.
public struct AdminServerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure.
    public enum Code: Sendable {
        /// The host is not known or not an address of this machine.
        case hostUnknown
        /// Another program listens there.
        case addressInUse
        /// Anything else that the system reports.
        case failed
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
