public import PushCore

extension SQLiteRegistry: ServerKeyRegistry {
    /// The key that is kept.
    public func storedServerKey() throws(RegistryError) -> ServerKey? {
        let statement = try statements.statement("SELECT bytes FROM server_key")
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        guard let key = ServerKey(bytes: statement.bytes(0)) else {
            throw RegistryError(
                .corrupt,
                RegistryError.corruptMessage(
                    path: connection.path, reason: "the key in the table server_key has not 32 bytes"))
        }
        return key
    }

    /// Keeps a key unless there is one already.
    public func keepServerKey(_ key: ServerKey) throws(RegistryError) -> ServerKey {
        try writing(durable: true) { () throws(RegistryError) in
            let statement = try statements.statement("INSERT OR IGNORE INTO server_key (id, bytes) VALUES (1, ?)")
            statement.bind(1, key.bytes)
            try statement.run()
            return try storedServerKey() ?? key
        }
    }
}
