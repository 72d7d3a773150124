public import Notifications
public import RegistryCore

extension InMemoryRegistry {
    /// Gives devices tokens, all or none.
    public func saveTokens(_ tokens: [FurtherToken]) throws(RegistryError) {
        try check()
        for token in tokens {
            guard let device = entries[token.deviceID]?.device else { throw RegistryError.noDevice(token.deviceID) }
            try RegistryRules.check(token, of: device)
        }
        for token in tokens { give(token) }
    }

    /// Gives a device a token, and takes it from its present device.
    func give(_ token: FurtherToken) {
        let app = entries[token.deviceID]?.device.app
        for entry in entries.values where entry.device.app == app && entry.tokens[token.kind]?.token == token.token {
            entries[entry.device.deviceID]?.tokens[token.kind] = nil
        }
        entries[token.deviceID]?.tokens[token.kind] = token
    }

    /// Takes a token from a device.
    public func removeToken(_ kind: TokenKind, of deviceID: String) throws(RegistryError) -> Bool {
        try check()
        return entries[deviceID]?.tokens.removeValue(forKey: kind) != nil
    }

    /// The tokens of each of these devices.
    public func tokens(of deviceIDs: [String]) throws(RegistryError) -> [[FurtherToken]] {
        try check()
        return deviceIDs.map { deviceID in
            TokenKind.further.compactMap { entries[deviceID]?.tokens[$0] }
        }
    }

    /// The owners of devices, and the moments of their alert tokens.
    public func registrations(of deviceIDs: [String]) throws(RegistryError) -> [TokenRegistration?] {
        try check()
        return deviceIDs.map { deviceID in
            entries[deviceID].map {
                TokenRegistration(
                    identityID: $0.device.identityID, userID: $0.device.userID,
                    atMilliseconds: $0.device.registeredAtMilliseconds)
            }
        }
    }

    /// The kinds under which these tokens are registered in an app.
    public func kinds(of tokens: [DeviceToken], app: String) throws(RegistryError) -> [RegisteredToken] {
        try check()
        let wanted = Dictionary(
            tokens.map { (AddressKey(ofUnknownPlatform: $0).bytes, $0) }, uniquingKeysWith: { first, _ in first })
        return entries.values.filter { $0.device.app == app }.flatMap { entry in
            let own = [(entry.key, TokenKind.alert)] + entry.tokens.values.map { ($0.token.bytes, $0.kind) }
            return own.compactMap { key, kind in
                wanted[key].map { RegisteredToken(token: $0, kind: kind, platform: entry.device.platform) }
            }
        }
    }

    /// Whether any device of an app has a token of a kind.
    public func hasTokens(_ kind: TokenKind, app: String) throws(RegistryError) -> Bool {
        try check()
        return entries.values.contains { $0.device.app == app && $0.tokens[kind] != nil }
    }

    /// Removes the dead tokens that are no alert tokens.
    func pruneFurtherTokens(_ deadTokens: [DeadToken]) -> Int {
        var removed = 0
        for dead in deadTokens {
            for entry in entries.values where entry.device.app == dead.app && entry.device.platform == dead.platform {
                guard let token = entry.tokens[dead.kind], token.token == dead.token,
                    token.registeredAtMilliseconds < dead.deadSinceMilliseconds ?? .max
                else { continue }
                entries[entry.device.deviceID]?.tokens[dead.kind] = nil
                removed += 1
            }
        }
        return removed
    }
}
