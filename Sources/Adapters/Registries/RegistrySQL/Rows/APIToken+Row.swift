import Essentials
public import RegistryCore

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
