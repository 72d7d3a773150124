import ChangeEvents
import RegistryAPI
import RegistryCore

extension ConfigurationReader {
    /// The ports that an origin of a scheme has without writing them.
    private static let standardPorts = ["https://": ":443", "http://": ":80"]
    private static let serverKeyShape =
        "write \"ID APP read FILE\" or \"ID APP write FILE\", optionally with a user; the ID has 1 to 128 letters, "
        + "digits, '-', '_'"

    /// Reads the keys of servers that use CloudKit Web Services.
    mutating func readServerKeys() -> [Configuration.RegistryAPI.ServerKey] {
        let appNames = (0..<(counts["app"] ?? 0)).map { text(.appName, app: $0) }
        var keys: [Configuration.RegistryAPI.ServerKey] = []
        for (index, text) in texts(.registryServerKeys).enumerated() {
            let location = "key \(index + 1)"
            guard let key = serverKey(text) else {
                fail(.registryServerKeys, "\(location) is invalid", Self.serverKeyShape)
                continue
            }
            if !appNames.contains(where: { $0.utf8.elementsEqual(key.app.utf8) }) {
                fail(
                    .registryServerKeys, "\(location) names the app \(key.app.quoted), which is not configured",
                    "name an app of this configuration")
            }
            if keys.contains(where: { $0.identifier == key.identifier }) {
                fail(.registryServerKeys, "\(location) repeats the ID of another key", "give each key its own ID")
            }
            check(key, location)
            keys.append(key)
        }
        return keys
    }

    private func serverKey(_ text: String) -> Configuration.RegistryAPI.ServerKey? {
        let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
        guard (4...5).contains(words.count), Self.isName(words[0], allowing: "-_", countMaximum: 128),
            let permission = APIToken.Permission(rawValue: words[2]), permission != .publish,
            let file = resolved(words[3], of: .registryServerKeys),
            words.count == 4 || TextRule.name.isFollowed(by: words[4])
        else { return nil }
        return Configuration.RegistryAPI.ServerKey(
            identifier: words[0], app: words[1], permission: permission, publicKeyFile: file,
            userID: words.count == 5 ? words[4] : words[0])
    }

    private mutating func check(_ key: Configuration.RegistryAPI.ServerKey, _ location: String) {
        guard checksFile(of: .registryServerKeys) else { return }
        do {
            _ = try ServerKey(
                identifier: key.identifier, publicKeyPEM: try ConfigurationFile.read(key.publicKeyFile), app: key.app,
                permission: key.permission, userID: key.userID)
        } catch let error as ConfigurationFile.Failure {
            fail(
                .registryServerKeys, "\(location): cannot read \(key.publicKeyFile): \(error.message)", error.remedy,
                isTransient: error.isTransient)
        } catch {
            fail(
                .registryServerKeys, "\(location): \(key.publicKeyFile) holds no P-256 public key",
                "create it with 'openssl ec -in PRIVATE_KEY -pubout'")
        }
    }

    /// Reads the origins whose pages may use a server.
    ///
    /// Origins are compared byte by byte with those that browsers send, so only a browser's spelling is accepted (RFC
    /// 6454 section 6.2).
    mutating func readAllowedOrigins(_ key: ConfigurationKey) -> [String] {
        texts(key).compactMap { text in
            let origin = text.lowercased()
            guard origin == "*" || Self.isOrigin(origin) else {
                fail(
                    key, "\(text.quoted) is not an origin",
                    "write https://HOST or https://HOST:PORT, without a slash at the end, or \"*\"")
                return nil
            }
            for (scheme, port) in Self.standardPorts where origin.hasPrefix(scheme) && origin.hasSuffix(port) {
                fail(
                    key,
                    "\(text.quoted) matches no page, because browsers omit the default port",
                    "omit it: \(origin.dropLast(port.count))")
                return nil
            }
            return origin
        }
    }

    private static func isOrigin(_ text: String) -> Bool {
        guard let scheme = standardPorts.keys.first(where: { text.hasPrefix($0) }) else { return false }
        let hostPort = text.dropFirst(scheme.count)
        guard hostPort.utf8.count <= 255, let parts = HostPort(String(hostPort), defaultPort: 1), parts.port > 0 else {
            return false
        }
        let host = parts.host.contains(":") ? "[\(parts.host)]" : parts.host
        let isHost = parts.host.utf8.allSatisfy { byte in
            (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || ".-:".utf8.contains(byte)
        }
        return isHost && (hostPort == host || hostPort == "\(host):\(parts.port)")
    }
}
