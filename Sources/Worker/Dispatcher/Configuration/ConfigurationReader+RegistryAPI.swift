import Crypto
import PushCore

extension ConfigurationReader {
    private static let accessKeyShape =
        "write \"ID SECRET\" or \"ID SECRET POOL ...\": an ID of 1 to 128 letters, digits, '-', '_', a secret of "
        + "16 to 256 characters without spaces"

    /// Reads how the registry is served.
    mutating func readRegistryAPI() -> Configuration.RegistryAPI {
        let listenText = text(.registryListen)
        let listen = HostPort(listenText)
        if !listenText.isEmpty, listen == nil {
            fail(.registryListen, "\(listenText.quoted) is invalid", "write HOST:PORT, or \"\" for nowhere")
        }
        let certificateFile = readCertificateFile(.registryCertificateFile)
        let keyFile = resolved(text(.registryKeyFile), of: .registryKeyFile)
        checkPair(certificateFile, keyFile)
        let isInsecure = boolean(.registryIsInsecure)
        if let listen, !listen.isLoopback, certificateFile == nil, !isInsecure {
            fail(
                .registryListen, "other machines can reach \(listen) without TLS",
                "set certificate_file and key_file, or insecure = true behind a proxy that has a certificate")
        }
        return Configuration.RegistryAPI(
            listen: listen, certificateFile: certificateFile, keyFile: keyFile, isInsecure: isInsecure,
            accessKeys: readAccessKeys(), serverKeys: readServerKeys(),
            allowedOrigins: readAllowedOrigins(.registryAllowedOrigins),
            requestsPerSecondMaximum: integer(.registryRequestsPerSecond), publicURL: readPublicURL(),
            hosts: readHosts(.registryHosts), connectionsPerAddressMaximum: integer(.registryConnectionsPerAddress),
            trustedProxies: readTrustedProxies(.registryTrustedProxies), quotas: readQuotas())
    }

    /// Reads the names by which a server is reached.
    mutating func readHosts(_ key: ConfigurationKey) -> [String] {
        let hosts = texts(key)
        for host in hosts where host != "*" && !Self.isName(host, allowing: "-_.", countMaximum: 255) {
            fail(key, "\(host.quoted) is not a host name", "write names without ports, or \"*\" for all")
        }
        return hosts
    }

    /// Reads the addresses of proxies.
    mutating func readTrustedProxies(_ key: ConfigurationKey) -> [String] {
        let addresses = texts(key)
        for address in addresses where !IPAddress.isNumeric(address) {
            fail(
                key, "\(address.quoted) is not a numeric address",
                "write addresses such as 10.0.0.7 or 2001:db8::7")
        }
        return addresses
    }

    private mutating func readQuotas() -> RegistryQuotas {
        var limits: [RegistryQuota: Int] = [:]
        for (quota, key) in zip(RegistryQuota.allCases, ConfigurationKey.quotas) { limits[quota] = integer(key) }
        return RegistryQuotas(limits: limits)
    }

    private mutating func readPublicURL() -> String? {
        var url = text(.registryPublicURL)
        guard !url.isEmpty else { return nil }
        while url.hasSuffix("/") { url.removeLast() }
        let scheme = ["https://", "http://"].first { url.hasPrefix($0) }
        let rest = url.utf8.dropFirst(scheme?.utf8.count ?? 0)
        let isRight = scheme != nil && rest.first.map { $0 != UInt8(ascii: "/") } ?? false
        let isPlain = rest.allSatisfy { (0x21...0x7e).contains($0) && !"?#@\"\\<>".utf8.contains($0) }
        guard isRight, isPlain, rest.count <= 512 else {
            fail(
                .registryPublicURL, "\(url.quoted) is invalid", "write https://HOST, https://HOST:PORT/PATH, or \"\"")
            return nil
        }
        return url
    }

    private mutating func checkPair(_ certificateFile: String?, _ keyFile: String?) {
        guard (certificateFile == nil) == (keyFile == nil) else {
            let missing: ConfigurationKey = certificateFile == nil ? .registryCertificateFile : .registryKeyFile
            return fail(missing, "missing", "set certificate_file and key_file together")
        }
        guard let keyFile, checksFile(of: .registryKeyFile) else { return }
        do {
            _ = try ConfigurationFile.read(keyFile)
        } catch {
            fail(
                .registryKeyFile, "cannot read \(keyFile): \(error.message)", error.remedy,
                isTransient: error.isTransient)
        }
        if ConfigurationFile.isReadableByOthers(keyFile) {
            warn(.registryKeyFile, "other users can read \(keyFile)", "run 'chmod 600 \(keyFile)'")
        }
    }

    private mutating func readAccessKeys() -> [Configuration.RegistryAPI.AccessKey] {
        var keys: [Configuration.RegistryAPI.AccessKey] = []
        let given = texts(.registryAccessKeys)
        for (index, text) in given.enumerated() {
            add(text, location: "key \(index + 1)", of: .registryAccessKeys, to: &keys)
        }
        if !given.isEmpty, case .file(let path, _) = origin(of: .registryAccessKeys),
            ConfigurationFile.isReadableByOthers(path)
        {
            warn(
                .registryAccessKeys, "other users can read \(path), which holds secrets",
                "run 'chmod 600 \(path)', or use access_keys_file")
        }
        guard let path = resolved(text(.registryAccessKeysFile), of: .registryAccessKeysFile),
            checksFile(of: .registryAccessKeysFile)
        else {
            return keys
        }
        do {
            let lines = String(decoding: try ConfigurationFile.read(path), as: UTF8.self).split(
                omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            for (index, line) in lines.enumerated() {
                let text = line.drop(while: \.isWhitespace)
                guard !text.isEmpty, !text.hasPrefix("#") else { continue }
                add(String(text), location: "line \(index + 1) of \(path)", of: .registryAccessKeysFile, to: &keys)
            }
            if ConfigurationFile.isReadableByOthers(path) {
                warn(.registryAccessKeysFile, "other users can read \(path)", "run 'chmod 600 \(path)'")
            }
        } catch {
            fail(
                .registryAccessKeysFile, "cannot read \(path): \(error.message)", error.remedy,
                isTransient: error.isTransient)
        }
        return keys
    }

    private mutating func add(
        _ text: String, location: String, of key: ConfigurationKey,
        to keys: inout [Configuration.RegistryAPI.AccessKey]
    ) {
        let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
        guard words.count >= 2, Self.isName(words[0], allowing: "-_", countMaximum: 128),
            (16...256).contains(words[1].utf8.count)
        else { return fail(key, "\(location) is invalid", Self.accessKeyShape) }
        for pool in words.dropFirst(2) {
            guard let requirement = TextRule.identity.requirement(brokenBy: pool) else { continue }
            fail(key, "\(location) has an invalid pool", "it must be \(requirement)")
        }
        guard !keys.contains(where: { $0.identifier == words[0] }) else {
            return fail(key, "\(location) repeats the ID of another key", "give each key its own ID")
        }
        keys.append(
            Configuration.RegistryAPI.AccessKey(
                identifier: words[0], secret: Secret(words[1]), identityPools: Array(words.dropFirst(2))))
    }
}
