import TOML

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
