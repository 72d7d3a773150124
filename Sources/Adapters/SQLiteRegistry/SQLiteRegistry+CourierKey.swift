public import PushCore

extension SQLiteRegistry: CourierKeyRegistry {
    /// The key that is kept.
    public func storedCourierKey() throws(RegistryError) -> CourierKey? {
        let statement = try statements.statement("SELECT bytes FROM courier_key")
        defer { statement.reset() }
        return try statement.step() ? try CourierKey(statement) : nil
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
