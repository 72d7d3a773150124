import ServiceClient
import TOML
import WebPushTransport

extension Configuration {
    /// An app's way to browsers: `[app.webpush]`.
    public struct AppWebPush: Hashable, Sendable {
        /// The file with the VAPID key: PEM, or the scalar in base64url as the tools of Web Push write it.
        public var keyFile: String
        /// How a push service reaches whoever runs this: a `mailto:` or `https:` URI.
        public var subject: String
    }

    /// The settings of pushes to browsers, of all apps: `[webpush]`.
    public struct WebPush: Hashable, Sendable {
        /// How many threads encrypt, 1 to 64.
        public var encryptionThreads: Int
        /// Further hosts of push services with the full number of connections, beside those of the large browsers; one
        /// that begins with a dot is a suffix.
        public var knownHosts: [String]
        /// Whether subscriptions of other hosts are refused.
        public var onlyKnownHosts: Bool
        /// Hosts whose addresses and ports are not checked: a simulator, or a push service in the own network; one with
        /// a port is trusted at that port alone.
        public var trustedHosts: [String]
        /// The URL of the HTTP proxy to go through, or nil.
        public var proxy: Secret?
        /// A PEM file with an extra trust anchor, for a simulator, or nil.
        public var caFile: String?
    }
}

extension ConfigurationKey {
    static let appWebPushKeyFile = ConfigurationKey(
        section: "app.webpush", name: "key_file", kind: .string, standard: .string(""),
        summary: "VAPID key; \"\" is no Web Push.",
        details: """
            PEM, or base64url as the tools of Web Push write it. With another key, browsers have to subscribe again.
            """)
    static let appWebPushSubject = ConfigurationKey(
        section: "app.webpush", name: "subject", kind: .string, standard: .string(""),
        summary: "How push services reach you: mailto:NAME@HOST or https://HOST/PATH.",
        details: "Required with key_file. Apple refuses a host that is not public.")

    /// The keys of `[app.webpush]`.
    static let appWebPush = [appWebPushKeyFile, appWebPushSubject]

    static let webPushEncryptionThreads = ConfigurationKey(
        section: "webpush", name: "encryption_threads", kind: .integer(1...64), standard: .integer(1),
        summary: "Threads that encrypt messages to browsers.",
        details: "A message takes about 60 microseconds of a processor.")
    static let webPushKnownHosts = ConfigurationKey(
        section: "webpush", name: "known_hosts", kind: .strings, standard: .array([]),
        summary: "Further hosts of push services with all connections.",
        details: """
            Those of Google, Mozilla, Apple and Microsoft are known. A leading dot stands for all names that end so. \
            Unknown hosts share few places, with one connection each.
            """)
    static let webPushOnlyKnownHosts = ConfigurationKey(
        section: "webpush", name: "only_known_hosts", kind: .boolean, standard: .boolean(false),
        summary: "Whether subscriptions of other hosts are refused.",
        details: "Any website can register a host that it made up.")
    static let webPushTrustedHosts = ConfigurationKey(
        section: "webpush", name: "trusted_hosts", kind: .strings, standard: .array([]),
        summary: "Hosts whose addresses and ports are not checked.",
        details: """
            All others need public addresses and port 443. For a simulator, or a service in your network. HOST:PORT \
            trusts that port alone, and 'apus check --connect' tries it in place of the large services.
            """)
    static let webPushProxy = ConfigurationKey(
        section: "webpush", name: "proxy", kind: .string, standard: .string(""), isSecret: true,
        summary: "HTTP proxy on the way to browsers' push services.",
        details: "As that of [app.apns]. It has to refuse names of private addresses, because it looks names up.")
    static let webPushCAFile = ConfigurationKey(
        section: "webpush", name: "ca_file", kind: .string, standard: .string(""),
        summary: "Extra trust anchor, PEM, for the simulator.")

    /// The keys of `[webpush]`.
    static let webPush = [
        webPushEncryptionThreads, webPushKnownHosts, webPushOnlyKnownHosts, webPushTrustedHosts, webPushProxy,
        webPushCAFile,
    ]
}

extension ConfigurationReader {
    /// Reads `[webpush]`.
    mutating func readWebPush() -> Configuration.WebPush {
        Configuration.WebPush(
            encryptionThreads: integer(.webPushEncryptionThreads), knownHosts: readPushHosts(.webPushKnownHosts),
            onlyKnownHosts: boolean(.webPushOnlyKnownHosts), trustedHosts: readPushHosts(.webPushTrustedHosts),
            proxy: readProxy(.webPushProxy), caFile: readCertificateFile(.webPushCAFile))
    }

    /// Reads `[app.webpush]`; nil if the app does not push to browsers.
    mutating func readAppWebPush(app index: Int) -> Configuration.AppWebPush? {
        let file = resolved(text(.appWebPushKeyFile, app: index), of: .appWebPushKeyFile, app: index)
        let subject = text(.appWebPushSubject, app: index)
        guard let file else { return nil }
        do throws(VAPIDError) {
            _ = try VAPIDSubject(subject)
        } catch {
            fail(
                .appWebPushSubject, app: index, error.message,
                "give mailto:NAME@HOST or https://HOST/PATH by which a push service reaches you")
        }
        if checksFile(of: .appWebPushKeyFile) { checkVAPIDKey(file, app: index) }
        return Configuration.AppWebPush(keyFile: file, subject: subject)
    }

    private mutating func checkVAPIDKey(_ path: String, app index: Int) {
        do throws(ServiceError) {
            _ = try VAPIDSigningKey(path: path)
        } catch {
            fail(
                .appWebPushKeyFile, app: index, error.message,
                "make a key with 'openssl ecparam -name prime256v1 -genkey -noout -out \(path)'",
                isTransient: error.code == .systemFailed)
        }
        warnOfReaders(.appWebPushKeyFile, app: index, path)
    }

    private mutating func readPushHosts(_ key: ConfigurationKey) -> [String] {
        let hosts = texts(key).map { $0.lowercased() }
        for host in hosts where !Self.isName(host, allowing: ".-:", countMaximum: 253) {
            fail(key, "\(host.quoted) is invalid", "give host names, for example push.example.com or .example.com")
        }
        return hosts
    }
}
