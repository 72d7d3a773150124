public import Notifications
public import RegistryCore
import RegistrySQL

/// Tokens that devices have beside their alert tokens.
extension SQLiteRegistry {
    /// Gives devices tokens, all or none.
    public func saveTokens(_ tokens: [FurtherToken]) throws(RegistryError) {
        guard !tokens.isEmpty else { return }
        try writing(durable: true) { () throws(RegistryError) in
            for token in tokens { try save(token) }
        }
    }

    /// Gives a device a token, in a write transaction.
    func save(_ token: FurtherToken) throws(RegistryError) {
        let (row, app) = try owner(of: token)
        let taking = try statements.statement("DELETE FROM device_token WHERE token = ? AND app = ? AND kind = ?")
        taking.bind(1, token.token.bytes)
        taking.bind(2, app)
        taking.bind(3, token.kind.rawValue)
        try taking.run()
        let giving = try statements.statement(
            """
            INSERT INTO device_token (device, kind, token, app, registered_at) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (device, kind) DO UPDATE SET token = excluded.token, registered_at = excluded.registered_at
            """)
        giving.bind(1, row)
        giving.bind(2, token.kind.rawValue)
        giving.bind(3, token.token.bytes)
        giving.bind(4, app)
        giving.bind(5, token.registeredAtMilliseconds)
        try giving.run()
    }

    /// The row and app of the device that is to get a token, if it may have it.
    private func owner(of token: FurtherToken) throws(RegistryError) -> (row: Int64, app: Int64) {
        let statement = try statements.statement(
            "SELECT d.id, d.app, \(Recipient.readColumns) FROM device d WHERE d.device_id = ?")
        statement.bind(1, token.deviceID)
        defer { statement.reset() }
        guard try statement.step() else { throw RegistryError.noDevice(token.deviceID) }
        let (row, app) = (statement.integer(0), statement.integer(1))
        let device = try Recipient(statement, from: 2, app: try apps.name(of: app)) { () throws(RegistryError) in
            try addressRest(of: row)
        }
        try RegistryRules.check(token, platform: device.platform, alertToken: device.token)
        return (row, app)
    }

    /// Takes a token from a device.
    public func removeToken(_ kind: TokenKind, of deviceID: String) throws(RegistryError) -> Bool {
        try writing(durable: true) { () throws(RegistryError) in
            let statement = try statements.statement(
                "DELETE FROM device_token WHERE device = (SELECT id FROM device WHERE device_id = ?) AND kind = ?")
            statement.bind(1, deviceID)
            statement.bind(2, kind.rawValue)
            return try statement.run() > 0
        }
    }

    /// The tokens of each of these devices.
    public func tokens(of deviceIDs: [String]) throws(RegistryError) -> [[FurtherToken]] {
        try reading { () throws(RegistryError) in
            try deviceIDs.map { deviceID throws(RegistryError) in try furtherTokens(of: deviceID) }
        }
    }

    /// The tokens of a device, in a transaction.
    func furtherTokens(of deviceID: String) throws(RegistryError) -> [FurtherToken] {
        let statement = try statements.statement(
            """
            SELECT \(FurtherToken.readColumns) FROM device d CROSS JOIN device_token t ON t.device = d.id
            WHERE d.device_id = ? ORDER BY t.kind
            """)
        statement.bind(1, deviceID)
        var found: [FurtherToken] = []
        try statement.forEachRow { row throws(RegistryError) in
            found.append(try FurtherToken(row, from: 0, of: deviceID))
        }
        return found
    }

    /// The kinds under which these tokens are registered in an app.
    public func kinds(of tokens: [DeviceToken], app: String) throws(RegistryError) -> [RegisteredToken] {
        try reading { () throws(RegistryError) in
            guard let appNumber = try apps.identifier(of: app) else { return [] }
            let statement = try statements.statement(
                """
                SELECT '\(TokenKind.alert.rawValue)', platform FROM device WHERE token = ?1 AND app = ?2
                UNION ALL
                SELECT t.kind, d.platform FROM device_token t CROSS JOIN device d ON d.id = t.device
                WHERE t.token = ?1 AND t.app = ?2
                """)
            var found: [RegisteredToken] = []
            for token in Set(tokens) {
                statement.bind(1, AddressKey(ofUnknownPlatform: token).bytes)
                statement.bind(2, appNumber)
                try statement.forEachRow { row throws(RegistryError) in
                    found.append(try RegisteredToken(row, from: 0, token: token))
                }
            }
            return found
        }
    }

    /// Whether any device of an app has a token of a kind.
    public func hasTokens(_ kind: TokenKind, app: String) throws(RegistryError) -> Bool {
        let statement = try statements.statement(
            "SELECT EXISTS (SELECT 1 FROM device_token WHERE app = (SELECT id FROM app WHERE name = ?) AND kind = ?)")
        statement.bind(1, app)
        statement.bind(2, kind.rawValue)
        return try statement.firstInteger() == 1
    }

    /// Removes the dead tokens that are no alert tokens, in a write transaction.
    func pruneFurtherTokens(_ deadTokens: [DeadToken]) throws(RegistryError) -> Int {
        let statement = try statements.statement(
            """
            DELETE FROM device_token WHERE token = ?1 AND app = (SELECT id FROM app WHERE name = ?2) AND kind = ?3
                AND (SELECT platform FROM device d WHERE d.id = device) = ?4 AND (?5 IS NULL OR registered_at < ?5)
            """)
        var removed = 0
        for deadToken in deadTokens where deadToken.kind != .alert {
            statement.bind(1, deadToken.token.bytes)
            statement.bind(2, deadToken.app)
            statement.bind(3, deadToken.kind.rawValue)
            statement.bind(4, deadToken.platform.registryNumber)
            statement.bind(5, deadToken.deadSinceMilliseconds)
            removed += try statement.run()
        }
        return removed
    }
}
