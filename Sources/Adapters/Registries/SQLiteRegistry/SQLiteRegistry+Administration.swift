public import RegistryCore
import RegistrySQL

extension SQLiteRegistry: RegistryAdministration {
    /// Keeps a token.
    public func saveToken(_ token: APIToken) throws(RegistryError) {
        try RegistryRules.check(token)
        try writing(durable: true) { () throws(RegistryError) in
            let counting = try statements.statement("SELECT count(*) FROM api_token WHERE name <> ?1")
            let known = try statements.statement("SELECT 1 FROM api_token WHERE name = ?1")
            counting.bind(1, token.name)
            known.bind(1, token.name)
            if try known.firstInteger() == nil {
                try quotas.check(.apiTokens, (try counting.firstInteger() ?? 0) + 1)
            }
            let statement = try statements.statement(
                "INSERT OR REPLACE INTO api_token (\(APIToken.readColumns)) VALUES (?, ?, ?, ?, ?)")
            statement.bind(1, token.name)
            statement.bind(2, token.digest)
            statement.bind(3, token.app)
            statement.bind(4, token.permission.rawValue)
            statement.bind(5, token.createdAtMilliseconds)
            try statement.run()
        }
    }

    /// Keeps the configuration of an identity pool.
    public func savePoolConfiguration(_ json: [UInt8], of identityPoolID: String) throws(RegistryError) {
        try writing(durable: true) { () throws(RegistryError) in
            let statement = try statements.statement(
                "INSERT OR REPLACE INTO pool_configuration (identity_pool, content) VALUES (?, ?)")
            statement.bind(1, identityPoolID)
            statement.bind(2, String(decoding: json, as: UTF8.self))
            try statement.run()
        }
    }
}

extension SQLiteRegistry {
    /// How much a thorough check writes: more than most writes of one client need.
    private static let rehearsalBytes = 65_536
    /// So few pages of memory that a rehearsal is written to the log before its transaction ends.
    private static let rehearsalPages = 4

    /// Finds out whether the registry can be written, and changes nothing.
    ///
    /// - Parameter thoroughly: whether to write to the disk, so that a full one is found, too; else the lock is enough.
    /// - Throws: `RegistryError` if it cannot be written: locked, full, read-only, removed or replaced.
    public func checkWriting(thoroughly: Bool) throws(RegistryError) {
        guard thoroughly else { return try writing(durable: true) {} }
        try connection.requireSameFiles()
        try connection.execute("PRAGMA cache_size = \(Self.rehearsalPages)")
        defer { try? connection.setCacheSize() }
        try statements.statement("BEGIN IMMEDIATE").run()
        defer { if connection.isInTransaction { try? connection.execute("ROLLBACK") } }
        try statements.statement(
            """
            INSERT OR REPLACE INTO pool_configuration (identity_pool, content)
            VALUES ('', zeroblob(\(Self.rehearsalBytes)))
            """
        ).run()
    }

    /// The warnings about a registry's files that users other than their owner may access; may be empty.
    ///
    /// - Parameter path: the file of the registry.
    /// - Returns: a sentence for each, with what to do.
    public static func modeWarnings(path: String) -> [String] {
        Connection.files(of: path).compactMap { file in
            RegistryFile.looseMode(path: file).map { mode in
                let digits = String(mode, radix: 8)
                return "\(file) has the mode \(digits), so that others than its owner may use it, and it holds device "
                    + "tokens and the courier key; 'chmod 600 \(file)' makes it the owner's alone."
            }
        }
    }
}
