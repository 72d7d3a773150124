/// Why a worker could not start, and what to do.
public struct WorkerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure, by what the supervisor should do.
    public enum Code: Sendable {
        /// The configuration, a key or the registry's file is wrong: starting again changes nothing.
        case configuration
        /// Something outside is not there now: starting again may work.
        case unavailable
        /// The broker or the file system says no.
        case refused
    }

    /// The kind of failure.
    public let code: Code
    /// What was wrong, where, and what to do.
    public let message: String

    /// Creates an error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
