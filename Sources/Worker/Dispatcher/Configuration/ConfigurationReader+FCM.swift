import FCMTransport
import ServiceClient
import TOML

extension ConfigurationReader {
    /// Whether the app says how it reaches FCM.
    func usesFCM(app index: Int) -> Bool { isGiven(.fcmServiceAccountFile, app: index) }

    /// Whether a key has a value that is not empty.
    func isGiven(_ key: ConfigurationKey, app index: Int) -> Bool {
        switch values[key.path(app: index)]?.content {
        case .text(""), .typed(.string("")), nil: false
        case .text, .typed: true
        }
    }

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
            let account = try ServiceAccountFile(path: path).account()
            if fcm.projectID.isEmpty, !FCMRoute.isProject(account.projectID) {
                fail(.fcmProjectID, app: index, "\(path) names no project", "set project_id")
            }
            warnOfForeign(account, path, fcm, app: index)
        } catch {
            fail(
                .fcmServiceAccountFile, app: index, error.message,
                "name the JSON file of a service account that may send", isTransient: error.code == .systemFailed)
        }
        if ConfigurationFile.isReadableByOthers(path) {
            warn(.fcmServiceAccountFile, app: index, "other users can read \(path)", "run 'chmod 600 \(path)'")
        }
    }
}
