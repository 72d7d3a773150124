import ChangeEvents
import Crypto
public import RegistryCore
import TOML

extension Configuration {
    /// How the registry is served over HTTP: the rest of `[registry]`.
    public struct RegistryAPI: Hashable, Sendable {
        /// A key that requests are signed with.
        public struct AccessKey: Hashable, Sendable {
            /// The public part, which each request bears.
            public var identifier: String
            /// The secret part, which only the client and this configuration know.
            public var secret: Secret
            /// The only identity pools that it may be used for; empty for all.
            public var identityPools: [String]
        }

        /// The public half of a key that a server signs its requests with.
        public struct ServerKey: Hashable, Sendable {
            /// The public part, which each request bears.
            public var identifier: String
            /// The app whose container it opens.
            public var app: String
            /// The permission of the key.
            public var permission: APIToken.Permission
            /// A PEM file with the public key.
            public var publicKeyFile: String
            /// The user on whose behalf its requests are.
            public var userID: String
        }

        /// The default address of `apus registry`.
        public static let standardListen = HostPort(host: "127.0.0.1", port: 8_080)

        /// Where it listens; nil if `apus run` is not to serve it.
        ///
        /// Port 0 lets the system choose. `registry.listen`, default `""` for nil.
        public var listen: HostPort?
        /// A PEM file with the certificate chain, or nil for plain HTTP.
        public var certificateFile: String?
        /// A PEM file with the key of the certificate; nil exactly if there is no certificate.
        public var keyFile: String?
        /// Whether other machines may reach it without TLS.
        public var isInsecure: Bool
        /// The keys of both sources; identifiers are distinct.
        public var accessKeys: [AccessKey]
        /// The keys of servers that use CloudKit Web Services; identifiers are distinct.
        public var serverKeys: [ServerKey]
        /// The origins whose pages may use CloudKit Web Services, in lower case; `*` for every one.
        public var allowedOrigins: [String]
        /// How many requests each credential may make in a second, 1 to 100000.
        public var requestsPerSecondMaximum: Int
        /// Whether `POST /v1/events` takes events for RabbitMQ.
        public var takesEvents: Bool
        /// How many events each token may publish in a second, 1 to 1000000.
        public var eventsPerSecondMaximum: Int
        /// The URL by which clients reach it, without a slash at the end; nil for the address that
        /// it listens on, if only this machine reaches that.
        public var publicURL: String?
        /// The host names of the API besides those that are always served; `*` for all.
        public var hosts: [String]
        /// How many connections an address may have; 0 for no limit.
        public var connectionsPerAddressMaximum: Int
        /// The proxies in front of it, addresses in numbers.
        public var trustedProxies: [String]
        /// How much clients may keep.
        ///
        /// `[registry.quotas]`; the defaults are those of `RegistryQuota`, 0 is no limit.
        public var quotas: RegistryQuotas
    }
}

extension ConfigurationKey {
    static let registryListen = ConfigurationKey(
        section: "registry", name: "listen", kind: .string, standard: .string(""),
        summary: "Address of the registry's API in 'apus run', HOST:PORT.",
        details: """
            'apus registry' listens on 127.0.0.1:8080 without it. An address that other machines reach needs a \
            certificate.
            """,
        effect: .afterRestart)
    static let registryPublicURL = ConfigurationKey(
        section: "registry", name: "public_url", kind: .string, standard: .string(""),
        summary: "URL of the API for its clients, for example https://HOST.",
        details: """
            Clients without a push service fetch below it. 'tokens/create' needs it, unless only this machine reaches \
            the API.
            """)
    static let registryCertificateFile = ConfigurationKey(
        section: "registry", name: "certificate_file", kind: .string, standard: .string(""),
        summary: "Certificate of the API and its chain, PEM; \"\" is plain HTTP.")
    static let registryKeyFile = ConfigurationKey(
        section: "registry", name: "key_file", kind: .string, standard: .string(""),
        summary: "Private key of that certificate, PEM.")
    static let registryIsInsecure = ConfigurationKey(
        section: "registry", name: "insecure", kind: .boolean, standard: .boolean(false),
        summary: "Whether other machines may reach the API without TLS.",
        details: "For a proxy that has the certificate.")
    static let registryAccessKeys = ConfigurationKey(
        section: "registry", name: "access_keys", kind: .strings, standard: texts([]), isSecret: true,
        secretForm: .firstWord,
        summary: "Access keys of Amazon Cognito Sync clients.",
        details: "\"ID SECRET\", or \"ID SECRET POOL ...\" for some identity pools. Prefer access_keys_file.")
    static let registryAccessKeysFile = ConfigurationKey(
        section: "registry", name: "access_keys_file", kind: .string, standard: .string(""),
        summary: "File with more access keys, one a line.")
    static let registryServerKeys = ConfigurationKey(
        section: "registry", name: "server_keys", kind: .strings, standard: texts([]),
        summary: "Keys of servers that sign CloudKit Web Services requests.",
        details: """
            "ID APP read FILE" or "ID APP write FILE"; FILE has the public key as PEM. A fifth word names the user, by \
            default ID. The keys reach the public database only.
            """)
    static let registryAllowedOrigins = ConfigurationKey(
        section: "registry", name: "allowed_origins", kind: .strings, standard: texts([]),
        summary: "Origins whose pages may use CloudKit Web Services (CORS).",
        details: "https://HOST or https://HOST:PORT as browsers write it, no default port; \"*\" is every page.")
    static let registryRequestsPerSecond = ConfigurationKey(
        section: "registry", name: "requests_per_second", kind: .integer(1...100_000), standard: .integer(100),
        summary: "Requests a second of each key or token.",
        details: "A burst may be four times as large; above it 429.")
    static let registryTakesEvents = ConfigurationKey(
        section: "registry", name: "events", kind: .boolean, standard: .boolean(false),
        summary: "Whether POST /v1/events takes events for RabbitMQ.",
        details: "A token needs the permission publish.")
    static let registryEventsPerSecond = ConfigurationKey(
        section: "registry", name: "events_per_second", kind: .integer(1...1_000_000), standard: .integer(1_000),
        summary: "Events a second of each token.",
        details: "A burst may be four times as large; above it 429.")
    static let registryHosts = ConfigurationKey(
        section: "registry", name: "hosts", kind: .strings, standard: texts([]),
        summary: "Further host names of the API.",
        details: """
            The host of public_url, localhost, this machine's name and numeric addresses are always served; others get \
            421. ["*"] serves all.
            """)
    static let registryConnectionsPerAddress = ConfigurationKey(
        section: "registry", name: "connections_per_address", kind: .integer(0...100_000), standard: .integer(256),
        summary: "Connections to the API from one address; 0 is no limit.",
        details: "Above it 503. An IPv6 network of 64 bits is one address.")
    static let registryTrustedProxies = ConfigurationKey(
        section: "registry", name: "trusted_proxies", kind: .strings, standard: texts([]),
        summary: "Numeric addresses of proxies in front of the API.",
        details: "They have no limit of connections. The last address in X-Forwarded-For is the client's.")

    /// The keys of `[registry]`.
    static let registryAPI = [
        registryListen, registryPublicURL, registryCertificateFile, registryKeyFile, registryIsInsecure,
        registryAccessKeys, registryAccessKeysFile, registryServerKeys, registryAllowedOrigins,
        registryRequestsPerSecond, registryTakesEvents, registryEventsPerSecond, registryHosts,
        registryConnectionsPerAddress, registryTrustedProxies,
    ]
}

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
            requestsPerSecondMaximum: integer(.registryRequestsPerSecond), takesEvents: boolean(.registryTakesEvents),
            eventsPerSecondMaximum: integer(.registryEventsPerSecond), publicURL: readPublicURL(),
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
        } catch { fail(.registryKeyFile, reading: keyFile, error) }
        warnOfReaders(.registryKeyFile, keyFile)
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
            warnOfReaders(.registryAccessKeysFile, path)
        } catch { fail(.registryAccessKeysFile, reading: path, error) }
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

extension ConfigurationKey {
    /// The keys of `[registry.quotas]`.
    static let quotas = RegistryQuota.allCases.map { quota in
        ConfigurationKey(
            section: "registry.quotas", name: quota.rawValue, kind: .integer(0...RegistryQuota.limitMaximum),
            standard: .integer(quota.standardLimit), summary: summary(quota))
    }

    private static func summary(_ quota: RegistryQuota) -> String {
        switch quota {
        case .subscriptionsPerOwner: "Record subscriptions of a user, or of a device, in an app."
        case .subscriptionBytesPerOwner: "Bytes of their predicates and notifications."
        case .subscriptionsPerApp: "Record subscriptions of an app."
        case .subscriptionBytesPerApp: "Bytes of their predicates and notifications."
        case .devicesPerOwner: "Devices of a user, or of an identity, in an app."
        case .datasetsPerOwner: "Datasets of a device, or of an identity."
        case .topicsPerOwner: "Topics of a device, or of a user in an app."
        case .apiTokens: "Tokens for the API."
        }
    }
}
