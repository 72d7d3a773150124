/// The settings that a service manager such as systemd passes in the environment of a process.
public struct ServiceManagerSettings: Hashable, Sendable {
    /// Why a variable cannot be used.
    public struct Failure: Error, Hashable, CustomStringConvertible {
        /// The variable, its value and the rule.
        public let description: String
    }

    /// The longest path of a socket in bytes: `sun_path` has 108, and the last one is 0.
    static let pathBytesMaximum = 107

    /// The path of the socket that takes notifications; a first `@` stands for a name in the abstract namespace.
    public let socketPath: String
    /// How often the service manager wants a sign of life at least, in microseconds; nil if it watches nothing.
    public let watchdogMicroseconds: UInt64?

    /// Reads the variables `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID`; nil if there is no socket.
    ///
    /// A watchdog of another process is none of ours, as in `sd_watchdog_enabled(3)`.
    ///
    /// - Parameters:
    ///   - environment: the environment of the process.
    ///   - processID: the identifier of the process.
    /// - Throws: `Failure` if a variable is not what `sd_notify(3)` says.
    public init?(environment: [String: String], processID: Int32) throws(Failure) {
        guard let path = environment["NOTIFY_SOCKET"], !path.isEmpty else { return nil }
        let isPath = path.hasPrefix("/") || path.hasPrefix("@")
        guard isPath, (2...Self.pathBytesMaximum).contains(path.utf8.count) else {
            throw Failure(
                description: "NOTIFY_SOCKET \"\(path.prefix(200))\": expected an absolute path, or @ and a name, of at "
                    + "most \(Self.pathBytesMaximum) bytes")
        }
        socketPath = path
        guard let text = environment["WATCHDOG_USEC"], !text.isEmpty,
            environment["WATCHDOG_PID"].map({ $0 == String(processID) }) ?? true
        else {
            watchdogMicroseconds = nil
            return
        }
        guard let microseconds = UInt64(text), microseconds > 0, microseconds < .max / 1_000 else {
            throw Failure(
                description: "WATCHDOG_USEC \"\(text.prefix(200))\": expected a number of microseconds above 0")
        }
        watchdogMicroseconds = microseconds
    }
}
