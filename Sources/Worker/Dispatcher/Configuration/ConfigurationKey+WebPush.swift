import TOML

extension ConfigurationKey {
    static let appWebPushKeyFile = ConfigurationKey(
        section: "app.webpush", name: "key_file", kind: .string, standard: .string(""),
        summary: "The VAPID key, a file; \"\" is no Web Push.",
        details: """
            PEM, or the private key in base64url as the tools of Web Push write it. Every subscription is made for one \
            key: with another key, browsers have to subscribe again. Keep its mode 600.
            """)
    static let appWebPushSubject = ConfigurationKey(
        section: "app.webpush", name: "subject", kind: .string, standard: .string(""),
        summary: "How push services reach you: mailto:NAME@HOST or https://HOST/PATH.",
        details: "Required with key_file. Apple refuses a host that is not public.")

    /// The keys of `[app.webpush]`.
    static let appWebPush = [appWebPushKeyFile, appWebPushSubject]

    static let webPushEncryptionThreads = ConfigurationKey(
        section: "webpush", name: "encryption_threads", kind: .integer(1...64), standard: .integer(1),
        summary: "The threads that encrypt messages to browsers.",
        details: "Each message is encrypted by itself, which takes about 60 microseconds of a processor.")
    static let webPushKnownHosts = ConfigurationKey(
        section: "webpush", name: "known_hosts", kind: .strings, standard: .array([]),
        summary: "Further hosts of push services with the full number of connections.",
        details: """
            Those of Google, Mozilla, Apple and Microsoft are known. A host that begins with a dot stands for all \
            names that end so. Known hosts always have their connections. Unknown ones share a bounded number of \
            places, with one connection each.
            """)
    static let webPushOnlyKnownHosts = ConfigurationKey(
        section: "webpush", name: "only_known_hosts", kind: .boolean, standard: .boolean(false),
        summary: "Whether subscriptions of other hosts are refused.",
        details: "Any website can register a subscription of a host that it made up.")
    static let webPushTrustedHosts = ConfigurationKey(
        section: "webpush", name: "trusted_hosts", kind: .strings, standard: .array([]),
        summary: "Hosts whose addresses and ports are not checked.",
        details: """
            All others have to be public addresses, on port 443. Name a simulator here, or a push service in your own \
            network. HOST:PORT trusts that port alone, and 'apus check --connect' tries it in place of the large \
            services.
            """)
    static let webPushProxy = ConfigurationKey(
        section: "webpush", name: "proxy", kind: .string, standard: .string(""), isSecret: true,
        summary: "An HTTP proxy on the way to push services of browsers.",
        details: "As that of [app.apns]. It has to refuse names of private addresses, because it looks names up.")
    static let webPushCAFile = ConfigurationKey(
        section: "webpush", name: "ca_file", kind: .string, standard: .string(""),
        summary: "A PEM file with an extra trust anchor, for the simulator.",
        details: "\"\" trusts the system's anchors only.")

    /// The keys of `[webpush]`.
    static let webPush = [
        webPushEncryptionThreads, webPushKnownHosts, webPushOnlyKnownHosts, webPushTrustedHosts, webPushProxy,
        webPushCAFile,
    ]
}
