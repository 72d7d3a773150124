public import PushCore

extension PostgresRegistry: CourierKeyRegistry {
    private static let selection = Call("SELECT bytes FROM courier_key")

    /// The key that is kept.
    public func storedCourierKey() throws(RegistryError) -> CourierKey? {
        try ask([Self.selection])[0].first.map { (row) throws(RegistryError) in try CourierKey(row) }
    }

    /// Keeps a key unless there is one already.
    public func keepCourierKey(_ key: CourierKey) throws(RegistryError) -> CourierKey {
        let insertion = Call(
            "INSERT INTO courier_key (id, bytes) VALUES (1, $1::bytea) ON CONFLICT (id) DO NOTHING",
            [.bytes(key.bytes)])
        return try writing(durable: true) { (transaction) throws(RegistryError) in
            // A statement of its own: another server may have been faster, and only a later one sees its key.
            _ = try transaction.run([insertion])
            let kept = try transaction.commit([Self.selection])[0].first
            return try kept.map { (row) throws(RegistryError) in try CourierKey(row) } ?? key
        }
    }
}
