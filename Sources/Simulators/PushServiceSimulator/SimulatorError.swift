/// The simulator could not be set up.
public struct SimulatorError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure.
    public enum Code: Sendable {
        /// A line of the script is invalid.
        case scriptInvalid
        /// A key of a sender could not be read.
        case keyInvalid
        /// The address could not be listened on.
        case listenFailed
        /// A file could not be read or written.
        case fileFailed
        /// A value of the configuration is out of range.
        case configurationInvalid
        /// The awaited event did not happen in time.
        case deadlinePassed
    }

    /// The kind of failure.
    public let code: Code
    /// The problem, its location and the remedy, for people.
    public let message: String

    /// Names a failure, and says for people what to do about it.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Names a problem of a line of a script or of faults.
    public static func scriptInvalid(_ message: String) -> SimulatorError { SimulatorError(.scriptInvalid, message) }

    /// Names a value of the configuration that is out of range.
    public static func configurationInvalid(_ message: String) -> SimulatorError {
        SimulatorError(.configurationInvalid, message)
    }

    /// The message.
    public var description: String { message }
}
