public import Notifications
public import RegistryCore
import RegistrySQL

/// Tokens that devices have beside their alert tokens.
extension PostgresRegistry {
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
}
