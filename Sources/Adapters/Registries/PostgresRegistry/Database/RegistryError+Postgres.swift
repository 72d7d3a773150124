public import PostgreSQL
public import RegistryCore

/// A connection to a registry.
typealias Connection = PostgresConnection<RegistryError>
/// A transaction of a registry.
typealias Transaction = PostgresTransaction<RegistryError>

extension RegistryError: ServerFailure {
    /// Turns an error of the server into one that says what to do.
    ///
    /// - Parameters:
    ///   - state: the SQLSTATE, five characters (PostgreSQL, "PostgreSQL Error Codes").
    ///   - message: the server's primary message; never its detail, which quotes values such as tokens.
    ///   - address: host, port and database, without password.
    ///   - milliseconds: how long a call may take.
    public init(sqlState state: String, message: String, address: String, milliseconds: Int) {
        let start = "The registry \(address)"
        let reason = "(\(message), SQLSTATE \(state))"
        switch (state.prefix(2), state) {
        case (_, Schema.quotaState): self.init(quota: message, start)
        case (_, "55P03"):
            self.init(
                .unavailable,
                "\(start) is locked by another session for longer than the time we wait \(reason). Look for long "
                    + "transactions and locks in pg_stat_activity; the call may succeed later.")
        case (_, "57014"):
            self.init(
                .unavailable,
                "\(start) did not answer within \(milliseconds) ms \(reason). Look for long transactions, locks and "
                    + "load in pg_stat_activity; the call may succeed later.")
        case (_, "25006"), (_, "42501"):
            self.init(
                .readOnly,
                "\(start) cannot be written \(reason). Give the user of the URL the rights to the schema "
                    + "\(Schema.name), and name the primary server, not a standby.")
        case (_, "53100"):
            self.init(.readOnly, "The disk of \(address) is full \(reason). Free some space; nothing was half written.")
        case (_, "3D000"):
            self.init(
                .unavailable,
                "\(start) has no such database \(reason). Make it with 'createdb', or name another in registry.url.")
        case ("28", _):
            self.init(
                .unavailable,
                "\(start) refuses the login \(reason). Check user and password of registry.url, and pg_hba.conf.")
        case ("XX", "XX001"), ("XX", "XX002"), (_, "42P01"), (_, "42703"):
            self.init(
                .corrupt,
                "\(start) is damaged, or its tables were changed \(reason). Stop what uses it, look at the server's "
                    + "log, and restore a backup.")
        case ("08", _), ("40", _), ("53", _), ("57", _), ("23", _), ("26", _), (_, "0A000"):
            self.init(.unavailable, "\(start) could not do it now \(reason). The same call may succeed later.")
        default:
            self.init(.failed, "\(start) failed \(reason).")
        }
    }

    /// Reads what `refuse` of `Schema.tables` says of a quota: its name and its limit.
    private init(quota: String, _ start: String) {
        let words = quota.split(separator: " ")
        guard words.count == 2, let quota = RegistryQuota(rawValue: String(words[0])), let limit = Int(words[1]) else {
            self.init(.quotaExceeded, "\(start) would exceed a quota.")
            return
        }
        self = .quotaExceeded(quota, limit: limit)
    }

    /// Says that there is no connection.
    ///
    /// - Parameters:
    ///   - address: host, port and database, without password.
    ///   - reason: libpq's words, on one line.
    /// - Returns: an error with `.unavailable`.
    public static func unreachable(_ address: String, _ reason: String) -> RegistryError {
        RegistryError(
            .unavailable,
            "The registry \(address) is out of reach (\(reason)). Check that PostgreSQL runs, that host and port of "
                + "registry.url are right, and user and password; the next call connects again.")
    }

    /// Says that the server is one that can only be read now.
    ///
    /// - Parameters:
    ///   - address: host, port and database, without password.
    ///   - reason: the kind of server, or the words with which it refused to write.
    /// - Returns: an error with `.unavailable`.
    public static func onlyReadable(_ address: String, _ reason: String) -> RegistryError {
        RegistryError(
            .unavailable,
            "The registry \(address) can only be read now (\(reason)). Let registry.url lead to the primary server, "
                + "and see that default_transaction_read_only is off; the next call connects again.")
    }

    /// Says that a pooler takes transactions apart.
    public static func poolsStatements(_ address: String) -> RegistryError {
        RegistryError(
            .unavailable,
            "The registry \(address) is behind a pooler in statement mode, which takes transactions apart. Set "
                + "pool_mode to transaction or session; the next call connects again.")
    }

    /// Says that the server was silent for too long.
    public static func silent(_ address: String, milliseconds: Int) -> RegistryError {
        RegistryError(
            .unavailable,
            "The registry \(address) did not answer within \(milliseconds) ms; the connection was closed. Look at the "
                + "server's load and the network; the next call connects again.")
    }

    /// Says that the server lacks what we need.
    public static func tooOld(_ address: String, oldestVersion: Int) -> RegistryError {
        RegistryError(
            .invalid,
            "The server of the registry \(address) is too old: PostgreSQL \(oldestVersion) or newer is needed.")
    }

    /// Says that the database cannot keep every name.
    public static func wrongEncoding(_ address: String, _ encoding: String) -> RegistryError {
        RegistryError(
            .invalid,
            "The database of the registry \(address) has the encoding \(encoding), and names are UTF-8. Make another "
                + "with 'createdb --encoding UTF8 --template template0'.")
    }
}
