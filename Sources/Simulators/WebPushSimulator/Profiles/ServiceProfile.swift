/// The push service whose answers an origin of the simulator gives.
public enum ServiceProfile: String, CaseIterable, Sendable {
    /// A service by the RFCs alone: 8030, 8188, 8291 and 8292.
    case plain
    /// Firebase Cloud Messaging, the service of Chrome.
    case fcm
    /// Autopush, the service of Firefox.
    case mozilla
    /// Apple's service, that of Safari.
    case apple
    /// Windows Push Notification Services, the service of Edge.
    case wns

    /// How many bytes a body may have: a service must take 4 096 (RFC 8030 §7.2), and a sender must not send more.
    static let bodyBytesMaximum = 4_096

    /// How long a message is kept at most, in seconds; a longer time is shortened without an error (RFC 8030 §5.2).
    var ttlSecondsMaximum: Int64 {
        switch self {
        case .fcm: 28 * 86_400
        case .plain, .mozilla, .apple, .wns: 30 * 86_400
        }
    }

    /// Whether every push needs a VAPID token, and not only those to subscriptions that are bound to a key.
    var alwaysNeedsVAPID: Bool {
        switch self {
        case .plain, .mozilla: false
        case .fcm, .apple, .wns: true
        }
    }

    /// The part of an endpoint's path before the secret.
    private var pathBeginning: String {
        switch self {
        case .plain: "/push/"
        case .fcm: "/fcm/send/"
        case .mozilla: "/wpush/v2/gAAAAAB"
        case .apple: "/Q"
        case .wns: "/w/?token=BQYAAAB"
        }
    }

    /// How many characters the secret part has, so that endpoints are as long as those of the service.
    var secretCharacters: Int {
        switch self {
        case .plain: 48
        case .fcm: 145
        case .mozilla: 160
        case .apple: 116
        case .wns: 400
        }
    }

    /// The path of an endpoint.
    ///
    /// - Parameter secret: `secretCharacters` of base64url.
    /// - Returns: the path with its query.
    func path(secret: String) -> String {
        switch self {
        case .fcm: pathBeginning + secret.prefix(11) + ":APA91b" + secret.dropFirst(11)
        // A sender that decodes or encodes the address again sends to another one.
        case .wns: pathBeginning + secret.replacing("-", with: "%2b").replacing("_", with: "%2f") + "%3d"
        case .plain, .mozilla, .apple: pathBeginning + secret
        }
    }

    /// Finds the secret part of a path.
    ///
    /// - Parameter path: a path that was `normalized`.
    /// - Returns: its first eight characters; nil if it is no path of an endpoint.
    func secretBeginning(ofPath path: String) -> Substring? {
        guard path.hasPrefix(pathBeginning) else { return nil }
        let rest = path.dropFirst(pathBeginning.count)
        guard self == .wns else { return rest.prefix(8) }
        return Substring(rest.prefix(24).replacing("%2b", with: "-").replacing("%2f", with: "_").prefix(8))
    }

    /// A path as `path(secret:)` writes it: libraries write the same escapes in capital letters (RFC 3986 §6.2.2.1).
    func normalized(_ path: String) -> String {
        guard self == .wns, path.contains("%") else { return path }
        return path.replacing("%2B", with: "%2b").replacing("%2F", with: "%2f").replacing("%3D", with: "%3d")
    }
}
