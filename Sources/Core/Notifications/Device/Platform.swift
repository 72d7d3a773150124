/// The push service, and its environment, that a device token belongs to; the names are Amazon Cognito's.
public enum Platform: String, CaseIterable, Sendable {
    /// Apple's production environment (`api.push.apple.com`).
    case apns = "APNS"
    /// Apple's development environment (`api.sandbox.push.apple.com`).
    case apnsSandbox = "APNS_SANDBOX"
    /// Google's Firebase Cloud Messaging; registered today, sent to in a later version.
    case gcm = "GCM"
    /// A client without a push service, for example a browser, that fetches its notifications from the registry's API.
    case web = "WEB"

    /// Whether it is Apple's push service, for which a device may have tokens of several kinds.
    public var isAPNs: Bool { self == .apns || self == .apnsSandbox }
}
