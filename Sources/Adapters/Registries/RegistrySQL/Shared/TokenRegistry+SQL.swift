import Essentials
public import Notifications
public import RegistryCore

/// Tokens that devices have beside their alert tokens; each registry looks them up for pushes in its own way.
extension TokenRegistry where Self: SQLStore {
    /// Gives devices tokens, all or none.
    public func saveTokens(_ tokens: [FurtherToken]) throws(RegistryError) {
        guard !tokens.isEmpty else { return }
        let columns: [StoredColumn<FurtherToken>] = [.text("device") { $0.deviceID }]
        try write(durable: true) { (transaction) throws(RegistryError) in
            var owners: [ByteText: (app: Int64, address: AddressKey.Content)] = [:]
            try transaction.run([
                """
                SELECT \(sql: Recipient.readColumns), d.app FROM \(table: "device") d WHERE d.id IN (
                    SELECT x.id FROM \(rows: columns, of: tokens) CROSS JOIN \(table: "device") x
                    WHERE x.device_id = r.device)
                \(postgres: "ORDER BY d.id FOR NO KEY UPDATE")
                """
            ]) { (_, row) throws(RegistryError) in
                guard let address = AddressKey.read(platformNumber: row.integer(1), row.bytes(2))
                else { throw row.corrupt("the device \"\(row.text(0))\" has a bad platform or token") }
                owners[ByteText(row.text(0))] = (row.integer(3), address)
            }
            var plan = TokenPlan()
            for token in tokens {
                guard let owner = owners[ByteText(token.deviceID)] else { throw RegistryError.noDevice(token.deviceID) }
                switch owner.address {
                case .address(let platform, let alertToken):
                    try RegistryRules.check(token, platform: platform, alertToken: alertToken)
                case .digest(let mark):
                    // Its platform is reason enough to refuse it.
                    try RegistryRules.check(token, platform: mark.platform, alertToken: token.token)
                }
                plan.add(token, app: owner.app)
            }
            try transaction.commit(plan.statements)
        }
    }

    /// Takes a token from a device.
    public func removeToken(_ kind: TokenKind, of deviceID: String) throws(RegistryError) -> Bool {
        try write(
            durable: true,
            """
            DELETE FROM \(table: "device_token")
            WHERE device = (SELECT d.id FROM \(table: "device") d WHERE d.device_id = \(deviceID))
                AND kind = \(kind.rawValue)
            """) > 0
    }

    /// Whether any device of an app has a token of a kind.
    public func hasTokens(_ kind: TokenKind, app: String) throws(RegistryError) -> Bool {
        try ask(
            """
            SELECT 1 FROM \(table: "device_token") t
            WHERE t.app = (SELECT a.id FROM \(table: "app") a WHERE a.name = \(app)) AND t.kind = \(kind.rawValue)
            LIMIT 1
            """
        ) { _ in true }.first ?? false
    }
}
