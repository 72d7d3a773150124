import PostgreSQL
public import RegistryCore
import RegistrySQL

extension PostgresRegistry: RegistryAdministration {
    /// Keeps a token.
    public func saveToken(_ token: APIToken) throws(RegistryError) {
        try RegistryRules.check(token)
        let call = Call(
            """
            INSERT INTO apus.api_token (\(APIToken.readColumns))
            VALUES ($1::text, $2::bytea, $3::text, $4::text, $5::bigint)
            ON CONFLICT (name) DO UPDATE SET digest = excluded.digest, app = excluded.app,
                permission = excluded.permission, created_at = excluded.created_at
            """,
            [
                .text(token.name), .bytes(token.digest), .text(token.app), .text(token.permission.rawValue),
                .integer(token.createdAtMilliseconds),
            ])
        let limited = QuotaCalls.adding(
            call, returning: "xmax = 0 AS is_new", of: "is_new", counted: "is_new",
            before: "SELECT count(*) FROM apus.api_token", .apiTokens, limit: quotas[.apiTokens])
        // Two that are added at once do not count each other.
        let lock = Call("LOCK TABLE apus.api_token IN SHARE ROW EXCLUSIVE MODE")
        let calls = quotas[.apiTokens] == nil ? [limited] : [lock, limited]
        try writing(durable: true) { (transaction) throws(RegistryError) in _ = try transaction.commit(calls) }
    }

    /// Keeps the configuration of an identity pool.
    public func savePoolConfiguration(_ json: [UInt8], of identityPoolID: String) throws(RegistryError) {
        guard !identityPoolID.utf8.contains(0) else {
            throw RegistryError(.invalid, "An identity pool has a NUL byte; leave it out.")
        }
        let call = Call(
            """
            INSERT INTO apus.pool_configuration (identity_pool, content) VALUES ($1::text, $2::bytea)
            ON CONFLICT (identity_pool) DO UPDATE SET content = excluded.content
            """, [.text(identityPoolID), .bytes(json)])
        try writing(durable: true) { (transaction) throws(RegistryError) in _ = try transaction.commit([call]) }
    }
}

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
            Call("LOCK TABLE apus.device, apus.subscription, apus.api_token IN ROW EXCLUSIVE MODE"),
            Call("DELETE FROM apus.api_token WHERE name = ''"),
        ]
        if thoroughly {
            // A name of its own, so that two processes that check at once do not wait for each other.
            let name = "check \(UInt64.random(in: 0...UInt64.max))"
            let content = (0..<Self.rehearsalBytes).map { _ in UInt8.random(in: 0...255) }
            calls.append(
                Call(
                    "INSERT INTO apus.pool_configuration (identity_pool, content) VALUES ($1::text, $2::bytea)",
                    [.text(name), .bytes(content)]))
        }
        // Without a commit it is rolled back.
        try writing(durable: true) { [calls] (transaction) throws(RegistryError) in _ = try transaction.run(calls) }
    }
}
