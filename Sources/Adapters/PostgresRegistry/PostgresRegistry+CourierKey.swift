public import PushCore

extension PostgresRegistry: CourierKeyRegistry {
    private static let selection = Call("SELECT bytes FROM courier_key")

    /// The key that is kept.
    public func storedCourierKey() throws(RegistryError) -> CourierKey? {
        let rows = try ask([Self.selection])[0]
        guard rows.count > 0 else { return nil }
        return try key(in: rows)
    }

    /// Keeps a key unless there is one already.
    public func keepCourierKey(_ key: CourierKey) throws(RegistryError) -> CourierKey {
        let insertion = Call(
            "INSERT INTO courier_key (id, bytes) VALUES (1, $1::bytea) ON CONFLICT (id) DO NOTHING",
            [.bytes(key.bytes)])
        return try writing(durable: true) { (transaction) throws(RegistryError) in
            // A statement of its own: another server may have been faster, and only a later one sees its key.
            _ = try transaction.run([insertion])
            return try self.key(in: try transaction.commit([Self.selection])[0])
        }
    }

    private func key(in rows: Rows) throws(RegistryError) -> CourierKey {
        guard rows.count == 1, let key = CourierKey(bytes: Array(rows.bytes(0, 0))) else {
            throw RegistryError.corruptRow(place, "the key in the table courier_key has not 32 bytes")
        }
        return key
    }
}
