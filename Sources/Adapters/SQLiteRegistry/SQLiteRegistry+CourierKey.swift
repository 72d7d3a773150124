public import PushCore

extension SQLiteRegistry: CourierKeyRegistry {
    /// The key that is kept.
    public func storedCourierKey() throws(RegistryError) -> CourierKey? {
        let statement = try statements.statement("SELECT bytes FROM courier_key")
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        guard let key = CourierKey(bytes: statement.bytes(0)) else {
            throw RegistryError(
                .corrupt,
                RegistryError.corruptMessage(
                    path: connection.path, reason: "the key in the table courier_key has not 32 bytes"))
        }
        return key
    }

    /// Keeps a key unless there is one already.
    public func keepCourierKey(_ key: CourierKey) throws(RegistryError) -> CourierKey {
        try writing(durable: true) { () throws(RegistryError) in
            let statement = try statements.statement("INSERT OR IGNORE INTO courier_key (id, bytes) VALUES (1, ?)")
            statement.bind(1, key.bytes)
            try statement.run()
            return try storedCourierKey() ?? key
        }
    }
}
