public import PushCore

extension PostgresRegistry: RegistryAdministration {
    /// Keeps a token.
    public func saveToken(_ token: APIToken) throws(RegistryError) {
        try RegistryRules.check(token)
        let call = Call(
            """
            INSERT INTO api_token (\(APIToken.readColumns))
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
            before: "SELECT count(*) FROM api_token", .apiTokens, limit: quotas[.apiTokens])
        // Two that are added at once do not count each other.
        let lock = Call("LOCK TABLE api_token IN SHARE ROW EXCLUSIVE MODE")
        let calls = quotas[.apiTokens] == nil ? [limited] : [lock, limited]
        try writing(durable: true) { (transaction) throws(RegistryError) in _ = try transaction.commit(calls) }
    }

    /// Removes a token.
    public func removeToken(named name: String) throws(RegistryError) -> Bool {
        try writing(durable: true) { (transaction) throws(RegistryError) in
            let call = Call("DELETE FROM api_token WHERE name = $1::text", [.text(name)])
            return try transaction.commit([call])[0].affectedCount > 0
        }
    }

    /// All tokens.
    public func tokens() throws(RegistryError) -> [APIToken] {
        try ask([Call("SELECT \(APIToken.readColumns) FROM api_token ORDER BY name")])[0].map {
            (row) throws(RegistryError) in try APIToken(row)
        }
    }

    /// Keeps the configuration of an identity pool.
    public func savePoolConfiguration(_ json: [UInt8], of identityPoolID: String) throws(RegistryError) {
        guard !identityPoolID.utf8.contains(0) else {
            throw RegistryError(.invalid, "An identity pool has a NUL byte; leave it out.")
        }
        let call = Call(
            """
            INSERT INTO pool_configuration (identity_pool, content) VALUES ($1::text, $2::bytea)
            ON CONFLICT (identity_pool) DO UPDATE SET content = excluded.content
            """, [.text(identityPoolID), .bytes(json)])
        try writing(durable: true) { (transaction) throws(RegistryError) in _ = try transaction.commit([call]) }
    }

    /// The configuration of an identity pool.
    public func poolConfiguration(of identityPoolID: String) throws(RegistryError) -> [UInt8]? {
        let call = Call(
            "SELECT content FROM pool_configuration WHERE identity_pool = $1::text", [.text(identityPoolID)])
        return try ask([call])[0].first?.bytes(0)
    }
}
