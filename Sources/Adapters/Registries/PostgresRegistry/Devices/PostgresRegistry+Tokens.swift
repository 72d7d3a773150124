public import Notifications
public import RegistryCore
import RegistrySQL

/// Tokens that devices have beside their alert tokens.
extension PostgresRegistry {
    /// Gives devices tokens, all or none.
    public func saveTokens(_ tokens: [FurtherToken]) throws(RegistryError) {
        guard !tokens.isEmpty else { return }
        try writing(durable: true) { (transaction) throws(RegistryError) in
            let rows = try transaction.run([TokenCalls.lockDevices(tokens.map(\.deviceID))])[0]
            let rests = try addressRests(in: rows, from: 0)
            let found = Dictionary(rows.map { ($0.bytes(0), $0) }, uniquingKeysWith: { first, _ in first })
            var plan = TokenPlan()
            for token in tokens {
                guard let row = found[Array(token.deviceID.utf8)] else { throw RegistryError.noDevice(token.deviceID) }
                let rest = rests[row.number]
                let device = try Recipient(row, from: 0, app: row.text(4)) { () throws(RegistryError) in rest }
                try RegistryRules.check(token, platform: device.platform, alertToken: device.token)
                plan.add(token, app: row.integer(3))
            }
            try transaction.commit(TokenCalls.carryOut(plan))
        }
    }

    /// Takes a token from a device.
    public func removeToken(_ kind: TokenKind, of deviceID: String) throws(RegistryError) -> Bool {
        try writing(durable: true) { (transaction) throws(RegistryError) in
            let call = Call(
                """
                DELETE FROM apus.device_token t
                WHERE t.device = (SELECT d.id FROM apus.device d WHERE d.device_id = $1::text) AND t.kind = $2::text
                """, [.text(deviceID), .text(kind.rawValue)])
            return try transaction.commit([call])[0].affectedCount > 0
        }
    }

    /// The tokens of each of these devices.
    public func tokens(of deviceIDs: [String]) throws(RegistryError) -> [[FurtherToken]] {
        var found: [[FurtherToken]] = Array(repeating: [], count: deviceIDs.count)
        guard !deviceIDs.isEmpty else { return found }
        let rows = try ask([TokenCalls.tokens(of: deviceIDs)])[0]
        for row in rows {
            let index = Int(row.integer(0)) - 1
            found[index].append(try FurtherToken(row, from: 1, of: deviceIDs[index]))
        }
        return found
    }

    /// The kinds under which these tokens are registered in an app.
    public func kinds(of tokens: [DeviceToken], app: String) throws(RegistryError) -> [RegisteredToken] {
        let tokens = Array(Set(tokens))
        guard !tokens.isEmpty else { return [] }
        let rows = try ask([TokenCalls.kinds(of: tokens, app: app)])[0]
        return try rows.map { (row) throws(RegistryError) in
            try RegisteredToken(row, from: 1, token: tokens[Int(row.integer(0)) - 1])
        }
    }

    /// Whether any device of an app has a token of a kind.
    public func hasTokens(_ kind: TokenKind, app: String) throws(RegistryError) -> Bool {
        let call = Call(
            """
            SELECT EXISTS (SELECT 1 FROM apus.device_token t
                WHERE t.app = (SELECT a.id FROM apus.app a WHERE a.name = $1::text) AND t.kind = $2::text)
            """, [.text(app), .text(kind.rawValue)])
        return try ask([call])[0].integer(0, 0) == 1
    }
}
