import TOML

extension ConfigurationKey {
    static let fcmServiceAccountFile = ConfigurationKey(
        section: "app.fcm", name: "service_account_file", kind: .string, standard: .string(""),
        summary: "Service account of the Firebase project, JSON; \"\" is no FCM.",
        details: "From the Firebase console: Project settings, Service accounts. A new key is used within the hour.")
    static let fcmProjectID = ConfigurationKey(
        section: "app.fcm", name: "project_id", kind: .string, standard: .string(""),
        summary: "Firebase project; \"\" is that of the service account.",
        details: "For an account of another project, which needs the role there.")
    static let fcmEndpoint = ConfigurationKey(
        section: "app.fcm", name: "endpoint", kind: .string, standard: .string(""),
        summary: "Another server for all of the app's messages, HOST:PORT.",
        details: "For 'apus simulate-fcm'.")
    static let fcmTokenURL = ConfigurationKey(
        section: "app.fcm", name: "token_url", kind: .string, standard: .string(""),
        summary: "Where access tokens are fetched; \"\" is what the service account says.",
        details: "https://HOST:PORT/PATH, for 'apus simulate-fcm'.")
    static let fcmProxy = ConfigurationKey(
        section: "app.fcm", name: "proxy", kind: .string, standard: .string(""), isSecret: true,
        summary: "HTTP proxy on the way to FCM and to the access tokens.",
        details: "As that of [app.apns].")
    static let fcmCAFile = ConfigurationKey(
        section: "app.fcm", name: "ca_file", kind: .string, standard: .string(""),
        summary: "Extra trust anchor, PEM, for the simulator.")
    static let fcmConnections = ConfigurationKey(
        section: "app.fcm", name: "connections", kind: .integer(1...64), standard: .integer(2),
        summary: "Connections kept to FCM, one before the first push.")
    static let fcmConnectionsMaximum = ConfigurationKey(
        section: "app.fcm", name: "connections_max", kind: .integer(1...64), standard: .integer(16),
        summary: "Most connections to FCM.",
        details: "Google allows 100 messages at a time on each.")

    static let fcmMessagesPerMinute = ConfigurationKey(
        section: "app.fcm", name: "messages_per_minute", kind: .integer(60...100_000_000),
        standard: .integer(600_000), summary: "Most messages of a worker in a minute.",
        details: """
            Google's quota of a project, for all senders together, is 600000 unless it was raised: divide it by the \
            workers.
            """)

    /// The keys of `[app.fcm]`.
    static let fcm = [
        fcmServiceAccountFile, fcmProjectID, fcmEndpoint, fcmTokenURL, fcmProxy, fcmCAFile, fcmConnections,
        fcmConnectionsMaximum, fcmMessagesPerMinute,
    ]
}
