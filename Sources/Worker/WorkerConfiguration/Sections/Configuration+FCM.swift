import FCMTransport
import ServiceClient
import TOML

extension Configuration {
    /// An app's way to FCM: `[app.fcm]`.
    public struct FCM: Hashable, Sendable {
        /// The JSON file of the service account that may send.
        public var serviceAccountFile: String
        /// The Firebase project whose apps get the messages.
        public var projectID: String
        /// Where messages are sent to, or nil for Google's host.
        public var endpoint: HostPort?
        /// Where access tokens are fetched, or nil for what the service account says.
        public var tokenURL: String?
        /// The URL of the HTTP proxy to go through, or nil.
        public var proxy: Secret?
        /// A PEM file with an extra trust anchor, for a simulator, or nil.
        public var caFile: String?
        /// How many connections a worker keeps, 1 to 64.
        public var connections: Int
        /// How many connections a worker opens under pressure, 1 to 64.
        public var connectionsMaximum: Int
        /// How many messages a worker sends in a minute, 60 to 100,000,000.
        public var messagesPerMinute: Int
    }
}

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

extension ConfigurationReader {
    /// Reads `[app.fcm]`; nil if the app does not use FCM.
    mutating func readFCM(app index: Int) -> Configuration.FCM? {
        let file = resolved(text(.fcmServiceAccountFile, app: index), of: .fcmServiceAccountFile, app: index)
        var projectID = text(.fcmProjectID, app: index)
        if !projectID.isEmpty, !FCMRoute.isProject(projectID) {
            fail(
                .fcmProjectID, app: index, "\(projectID.quoted) is invalid",
                "give the project ID as the Firebase console shows it, for example chat-4711")
            projectID = ""
        }
        let fcm = Configuration.FCM(
            serviceAccountFile: file ?? "", projectID: projectID, endpoint: readEndpoint(.fcmEndpoint, app: index),
            tokenURL: readTokenURL(.fcmTokenURL, app: index), proxy: readProxy(.fcmProxy, app: index),
            caFile: readCertificateFile(.fcmCAFile, app: index), connections: integer(.fcmConnections, app: index),
            connectionsMaximum: integer(.fcmConnectionsMaximum, app: index),
            messagesPerMinute: integer(.fcmMessagesPerMinute, app: index))
        guard let file else { return nil }
        if checksFile(of: .fcmServiceAccountFile) { checkServiceAccount(file, fcm, app: index) }
        return fcm
    }

    /// Reads where access tokens are fetched, if not where the push service has them.
    mutating func readTokenURL(_ key: ConfigurationKey, app index: Int) -> String? {
        let url = text(key, app: index)
        guard !url.isEmpty else { return nil }
        let isPlain = url.utf8.count <= 512 && url.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
        if !url.hasPrefix("https://") || url.utf8.count <= "https://".utf8.count || !isPlain {
            fail(
                key, app: index, "\(url.quoted) is invalid",
                "write https://HOST:PORT/PATH, or \"\" for the usual one")
        }
        return url
    }

    /// Warns of an account that is not Google's, while its messages go to Google.
    private mutating func warnOfForeign(
        _ account: ServiceAccount, _ path: String, _ fcm: Configuration.FCM, app index: Int
    ) {
        guard fcm.endpoint == nil else { return }
        if !account.isOfGoogle {
            warn(
                .fcmServiceAccountFile, app: index,
                "\(path) belongs to the universe \(account.universeDomain.quoted), and messages go to Google",
                "take an account of googleapis.com, or set endpoint and token_url")
        }
        if let host = account.foreignTokenHost, fcm.tokenURL == nil {
            warn(
                .fcmServiceAccountFile, app: index,
                "the token_uri in \(path) leads to \(host.quoted), which is not Google's and gets what it signs",
                "take the file as the Firebase console hands it out, or set token_url if it is meant")
        }
    }

    private mutating func checkServiceAccount(_ path: String, _ fcm: Configuration.FCM, app index: Int) {
        do throws(ServiceError) {
            let account = try ServiceAccountCredentials(.file(path)).account()
            if fcm.projectID.isEmpty, !FCMRoute.isProject(account.projectID) {
                fail(.fcmProjectID, app: index, "\(path) names no project", "set project_id")
            }
            warnOfForeign(account, path, fcm, app: index)
        } catch {
            fail(
                .fcmServiceAccountFile, app: index, error.message,
                "name the JSON file of a service account that may send", isTransient: error.code == .systemFailed)
        }
        warnOfReaders(.fcmServiceAccountFile, app: index, path)
    }
}
