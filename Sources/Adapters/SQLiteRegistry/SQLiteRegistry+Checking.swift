public import PushCore

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

    /// What to say of the files of a registry that others than their owner may use; empty if there are none.
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
