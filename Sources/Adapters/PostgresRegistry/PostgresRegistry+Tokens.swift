public import Notifications
public import PushCore

/// Tokens that devices have beside their alert tokens.
extension PostgresRegistry {
    /// Gives devices tokens, all or none.
    public func saveTokens(_ tokens: [FurtherToken]) throws(RegistryError) {
        guard !tokens.isEmpty else { return }
        try writing(durable: true) { (transaction) throws(RegistryError) in
            let rows = try transaction.run([TokenCalls.lockDevices(tokens.map(\.deviceID))])[0]
            var found: [[UInt8]: Int] = [:]
            for row in 0..<rows.count { found[Array(rows.bytes(row, 0))] = row }
            var plan = TokenPlan()
            for token in tokens {
                guard let row = found[Array(token.deviceID.utf8)] else { throw RegistryError.noDevice(token.deviceID) }
                let (platform, alertToken) = try decodeAddress(rows, row, platformColumn: 1)
                try RegistryRules.check(token, platform: platform, alertToken: alertToken)
                plan.add(token, app: rows.integer(row, 3))
            }
            try transaction.commit(TokenCalls.carryOut(plan))
        }
    }

    /// Takes a token from a device.
    public func removeToken(_ kind: TokenKind, of deviceID: String) throws(RegistryError) -> Bool {
        try writing(durable: true) { (transaction) throws(RegistryError) in
            let call = Call(
                """
                DELETE FROM device_token t
                WHERE t.device = (SELECT d.id FROM device d WHERE d.device_id = $1::text) AND t.kind = $2::text
                """, [.text(deviceID), .text(kind.rawValue)])
            return try transaction.commit([call])[0].affectedCount > 0
        }
    }

    /// The tokens of each of these devices.
    public func tokens(of deviceIDs: [String]) throws(RegistryError) -> [[FurtherToken]] {
        var found: [[FurtherToken]] = Array(repeating: [], count: deviceIDs.count)
        guard !deviceIDs.isEmpty else { return found }
        let rows = try ask([TokenCalls.tokens(of: deviceIDs)])[0]
        for row in 0..<rows.count {
            let index = Int(rows.integer(row, 0)) - 1
            found[index].append(
                try furtherToken(
                    of: deviceIDs[index], kind: rows.text(row, 1), token: Array(rows.bytes(row, 2)),
                    registeredAtMilliseconds: rows.integer(row, 3)))
        }
        return found
    }

    /// What these tokens are registered as in an app.
    public func kinds(of tokens: [DeviceToken], app: String) throws(RegistryError) -> [RegisteredToken] {
        let tokens = Array(Set(tokens))
        guard !tokens.isEmpty else { return [] }
        let rows = try ask([TokenCalls.kinds(of: tokens, app: app)])[0]
        return try (0..<rows.count).map { (row) throws(RegistryError) in
            guard let platform = Platform(registryNumber: rows.integer(row, 2)) else { throw corruptToken }
            return RegisteredToken(
                token: tokens[Int(rows.integer(row, 0)) - 1], kind: try kind(named: rows.text(row, 1)),
                platform: platform)
        }
    }

    /// Whether any device of an app has a token of a kind.
    public func hasTokens(_ kind: TokenKind, app: String) throws(RegistryError) -> Bool {
        let call = Call(
            """
            SELECT (EXISTS (SELECT 1 FROM device_token t
                WHERE t.app = (SELECT a.id FROM app a WHERE a.name = $1::text) AND t.kind = $2::text))::int
            """, [.text(app), .text(kind.rawValue)])
        return try ask([call])[0].integer(0, 0) == 1
    }

    /// Puts a token together from what is in its row.
    func furtherToken(
        of deviceID: String, kind name: String, token bytes: [UInt8], registeredAtMilliseconds: Int64
    ) throws(RegistryError) -> FurtherToken {
        guard let token = DeviceToken(bytes: bytes) else { throw corruptToken }
        return FurtherToken(
            deviceID: deviceID, kind: try kind(named: name), token: token,
            registeredAtMilliseconds: registeredAtMilliseconds)
    }

    private func kind(named name: String) throws(RegistryError) -> TokenKind {
        guard let kind = TokenKind(rawValue: name) else { throw corruptToken }
        return kind
    }

    private var corruptToken: RegistryError {
        RegistryError.corruptRow(place, "a row of the table device_token has a bad kind, token or platform")
    }
}
