import PushCore

/// Keeps what the API needs for itself in memory, for a registry that has no place for it.
final class VolatileAdministration: RegistryAdministration {
    private var tokensByName: [String: APIToken] = [:]
    private var configurations: [String: [UInt8]] = [:]

    func saveToken(_ token: APIToken) { tokensByName[token.name] = token }

    func removeToken(named name: String) -> Bool { tokensByName.removeValue(forKey: name) != nil }

    func tokens() -> [APIToken] { tokensByName.values.sorted { $0.name < $1.name } }

    func savePoolConfiguration(_ json: [UInt8], of identityPoolID: String) { configurations[identityPoolID] = json }

    func poolConfiguration(of identityPoolID: String) -> [UInt8]? { configurations[identityPoolID] }
}
