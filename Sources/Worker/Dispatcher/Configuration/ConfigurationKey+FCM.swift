import TOML

extension ConfigurationKey {
    static let fcmServiceAccountFile = ConfigurationKey(
        section: "app.fcm", name: "service_account_file", kind: .string, standard: .string(""),
        summary: "The service account of the Firebase project, a JSON file; \"\" is no FCM.",
        details: """
            The Firebase console makes it: Project settings, Service accounts. Keep its mode 600. A new key in the \
            file is used with the next access token, within the hour.
            """)
    static let fcmProjectID = ConfigurationKey(
        section: "app.fcm", name: "project_id", kind: .string, standard: .string(""),
        summary: "The Firebase project of the app; \"\" is that of the service account.",
        details: "Set it if an account of another project sends, which needs the role there.")
    static let fcmEndpoint = ConfigurationKey(
        section: "app.fcm", name: "endpoint", kind: .string, standard: .string(""),
        summary: "Another server for all of the app's messages, as HOST:PORT.",
        details: "Use it for 'apus simulate'. \"\" is fcm.googleapis.com.")
    static let fcmTokenURL = ConfigurationKey(
        section: "app.fcm", name: "token_url", kind: .string, standard: .string(""),
        summary: "Where access tokens are fetched, as https://HOST:PORT/PATH.",
        details: "Use it for 'apus simulate'. \"\" is what the service account says, which is Google.")
    static let fcmProxy = ConfigurationKey(
        section: "app.fcm", name: "proxy", kind: .string, standard: .string(""), isSecret: true,
        summary: "An HTTP proxy on the way to FCM and to the access tokens.",
        details: "As that of [app.apns].")
    static let fcmCAFile = ConfigurationKey(
        section: "app.fcm", name: "ca_file", kind: .string, standard: .string(""),
        summary: "A PEM file with an extra trust anchor, for the simulator.",
        details: "\"\" trusts the system's anchors only.")
    static let fcmConnections = ConfigurationKey(
        section: "app.fcm", name: "connections", kind: .integer(1...64), standard: .integer(2),
        summary: "The connections that a worker keeps to FCM, one before the first push.")
    static let fcmConnectionsMaximum = ConfigurationKey(
        section: "app.fcm", name: "connections_max", kind: .integer(1...64), standard: .integer(16),
        summary: "The most connections that a worker opens to FCM.",
        details: "Google allows 100 messages at a time on each.")

    static let fcmMessagesPerMinute = ConfigurationKey(
        section: "app.fcm", name: "messages_per_minute", kind: .integer(60...100_000_000),
        standard: .integer(600_000), summary: "The most messages that a worker sends to FCM in a minute.",
        details: """
            Google's quota of a project is 600000 unless it was raised, for all senders together: divide it by the \
            number of workers.
            """)

    /// The keys of `[app.fcm]`.
    static let fcm = [
        fcmServiceAccountFile, fcmProjectID, fcmEndpoint, fcmTokenURL, fcmProxy, fcmCAFile, fcmConnections,
        fcmConnectionsMaximum, fcmMessagesPerMinute,
    ]
}
