public import PushCore

extension PostgresRegistry {
    /// How much a thorough check writes: more than a page, and of no use to a compressor.
    private static let rehearsalBytes = 16_384

    /// Finds out whether the registry can be written, and changes nothing.
    ///
    /// - Parameter thoroughly: whether to write rows, so that a full disk is found, too; else the locks are enough.
    /// - Throws: `RegistryError` if it cannot be written: locked, full, read-only or out of reach.
    public func checkWriting(thoroughly: Bool) throws(RegistryError) {
        // No token has an empty name. A standby, which takes such locks, refuses the second statement.
        var calls = [
            Call("LOCK TABLE device, subscription, api_token IN ROW EXCLUSIVE MODE"),
            Call("DELETE FROM api_token WHERE name = ''"),
        ]
        if thoroughly {
            // A name of its own, so that two processes that check at once do not wait for each other.
            let name = "check \(UInt64.random(in: 0...UInt64.max))"
            let content = (0..<Self.rehearsalBytes).map { _ in UInt8.random(in: 0...255) }
            calls.append(
                Call(
                    "INSERT INTO pool_configuration (identity_pool, content) VALUES ($1::text, $2::bytea)",
                    [.text(name), .bytes(content)]))
        }
        // Without a commit it is rolled back.
        try writing(durable: true) { [calls] (transaction) throws(RegistryError) in _ = try transaction.run(calls) }
    }
}
