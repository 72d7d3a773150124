public import Notifications
public import RegistryCore
import RegistrySQL

/// Tokens that devices have beside their alert tokens.
extension SQLiteRegistry {
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
}
