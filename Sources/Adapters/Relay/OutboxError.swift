public import PostgreSQL

/// Why the outbox cannot be used, and what to do.
public struct OutboxError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of errors.
    public enum Code: Hashable, Sendable {
        /// The server is out of reach or busy; a later try may succeed.
        case unavailable
        /// The URL, the rights or the tables have to be corrected.
        case unusable
    }

    /// The kind.
    public let code: Code
    /// What happened and what to do, in sentences.
    public let message: String

    /// The message.
    public var description: String { message }

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension OutboxError: ServerFailure {
    /// An error of the server.
    public init(sqlState state: String, message: String, address: String, milliseconds: Int) {
        let reason = "(\(message), SQLSTATE \(state))"
        switch state {
        case "3F000", "42P01", "42883":
            self.init(
                .unusable,
                "\(address) has no outbox \(reason). Run as its owner what 'apus relay sql' prints, or name another "
                    + "database in relay.url.")
        case "42501":
            self = .notPermitted(address, "\(message), SQLSTATE \(state)")
        case "28000", "28P01", "3D000":
            self.init(
                .unavailable, "\(address) refuses the login \(reason). Check user, password and database of relay.url.")
        default:
            self.init(.unavailable, "The outbox \(address) could not be used now \(reason). The relay tries again.")
        }
    }

    /// There is no connection.
    public static func unreachable(_ address: String, _ reason: String) -> OutboxError {
        OutboxError(
            .unavailable,
            "The outbox \(address) is out of reach (\(reason)). Check that PostgreSQL runs and that relay.url is "
                + "right; the relay tries again.")
    }

    /// The server can only be read now.
    public static func onlyReadable(_ address: String, _ reason: String) -> OutboxError {
        OutboxError(
            .unavailable,
            "The outbox \(address) can only be read now (\(reason)). Let relay.url lead to the primary server; the "
                + "relay tries again.")
    }

    /// A pooler takes transactions apart.
    public static func poolsStatements(_ address: String) -> OutboxError {
        OutboxError(
            .unusable,
            "The outbox \(address) is behind a pooler in statement mode, which takes transactions apart. Set pool_mode "
                + "to transaction or session.")
    }

    /// The server was silent for too long.
    public static func silent(_ address: String, milliseconds: Int) -> OutboxError {
        OutboxError(
            .unavailable, "The outbox \(address) did not answer within \(milliseconds) ms. The relay tries again.")
    }

    /// The server lacks what the outbox needs.
    public static func tooOld(_ address: String, oldestVersion: Int) -> OutboxError {
        OutboxError(
            .unusable, "The server of the outbox \(address) is too old: PostgreSQL \(oldestVersion) or newer is needed."
        )
    }

    /// The database cannot keep every text.
    public static func wrongEncoding(_ address: String, _ encoding: String) -> OutboxError {
        OutboxError(.unusable, "The database of the outbox \(address) has the encoding \(encoding); it must be UTF8.")
    }

    static func notPermitted(_ address: String, _ reason: String) -> OutboxError {
        OutboxError(
            .unusable,
            "The user of relay.url may not use the outbox of \(address) (\(reason)). Grant it the rights that "
                + "'apus relay sql --relay-role NAME' prints.")
    }

    static func unreadable(_ fault: ServerAddressFault) -> OutboxError {
        switch fault {
        case .unreadable:
            OutboxError(
                .unusable, "relay.url cannot be read. Write postgresql://USER:PASSWORD@HOST:PORT/DATABASE.")
        case .unknownParameter(let name):
            OutboxError(.unusable, "relay.url has the parameter \(name), which libpq does not know: remove it.")
        }
    }
}
