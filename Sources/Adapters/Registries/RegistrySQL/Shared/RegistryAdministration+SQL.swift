public import RegistryCore

extension RegistryAdministration where Self: SQLStore {
    /// Removes a token.
    public func removeToken(named name: String) throws(RegistryError) -> Bool {
        try write(durable: true, "DELETE FROM \(table: "api_token") WHERE name = \(name)") > 0
    }

    /// All tokens.
    public func tokens() throws(RegistryError) -> [APIToken] {
        try ask("SELECT \(sql: APIToken.readColumns) FROM \(table: "api_token") ORDER BY name") {
            (row) throws(RegistryError) in try APIToken(row)
        }
    }

    /// The configuration of an identity pool.
    public func poolConfiguration(of identityPoolID: String) throws(RegistryError) -> [UInt8]? {
        try ask("SELECT content FROM \(table: "pool_configuration") WHERE identity_pool = \(identityPoolID)") {
            $0.bytes(0)
        }.first
    }
}

extension APIToken {
    /// The columns of `api_token` that `init(_:)` reads, and `storedColumns` writes.
    public static let readColumns = "name, digest, app, permission, created_at"

    /// Reads a token.
    ///
    /// - Throws: `RegistryError` with `.corrupt` if it has no permission that there is.
    public init(_ row: some RowReader) throws(RegistryError) {
        guard let permission = Permission(rawValue: row.text(3))
        else { throw row.corrupt("a token has an unknown permission") }
        self.init(
            name: row.text(0), digest: row.bytes(1), app: row.optionalText(2), permission: permission,
            createdAtMilliseconds: row.integer(4))
    }
}
