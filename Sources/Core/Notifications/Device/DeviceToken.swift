/// The address that a push service gave to one installation of an app: bytes of any length.
///
/// Its description shows only the first four bytes, because a whole token in a log lets its reader push to the device.
public struct DeviceToken: Hashable, Sendable, CustomStringConvertible {
    /// The longest token that we accept, in bytes; Apple's are 32 today, and "don't make assumptions" about it.
    public static let bytesMaximum = 256

    /// The token itself, 1 to `bytesMaximum` bytes.
    public let bytes: [UInt8]

    /// Accepts 1 to `bytesMaximum` bytes, or answers nil.
    public init?(bytes: [UInt8]) {
        guard !bytes.isEmpty, bytes.count <= Self.bytesMaximum else { return nil }
        self.bytes = bytes
    }

    /// Reads hexadecimal digits of either case, or answers nil if they are odd in number, no digits, none or too many.
    public init?(hexadecimal: some StringProtocol) {
        guard hexadecimal.utf8.count <= 2 * Self.bytesMaximum, let bytes = HexadecimalDigits.bytes(hexadecimal) else {
            return nil
        }
        self.init(bytes: bytes)
    }

    /// Says what digits must be that are no token; it never repeats the digits.
    ///
    /// - Parameter digits: a text that is no token.
    /// - Returns: the end of "it must be".
    public static func requirement(brokenBy digits: String) -> String {
        if let index = digits.utf8.firstIndex(where: { HexadecimalDigits.value(of: $0) == nil }) {
            let position = digits.utf8.distance(from: digits.utf8.startIndex, to: index) + 1
            return "hexadecimal digits (0-9, a-f), and character \(position) is none"
        }
        if digits.utf8.count > 2 * bytesMaximum || digits.isEmpty {
            return "2 to \(2 * bytesMaximum) hexadecimal digits, and it has \(digits.utf8.count)"
        }
        return "an even number of hexadecimal digits, two for each byte, and it has \(digits.utf8.count)"
    }

    /// All the digits, lowercase: for requests to the push service and for the registry's own output, never for a log.
    public var hexadecimal: String { HexadecimalDigits.text(bytes) }

    /// The first four bytes and the length: enough to find a token again, too little to use it.
    public var description: String {
        let start = hexadecimal.prefix(8)
        return "\(start)…(\(bytes.count) bytes)"
    }
}

/// The kinds of device tokens: one for each topic that APNs knows of an app.
///
/// An installation of an app has its alert token, which `PushType.alert` and `.background` use, and gets a further
/// token for each other topic: from PushKit, ActivityKit, WidgetKit or the Push to Talk framework. APNs takes a token
/// only with the topic that it was issued for, and answers `DeviceTokenNotForTopic` to every other.
public enum TokenKind: String, CaseIterable, Sendable {
    /// From `registerForRemoteNotifications`: alerts and background pushes, and pushes to managed devices.
    case alert
    /// From PushKit, for watch complications.
    case complication
    /// From WidgetKit, for controls.
    case controls
    /// From PushKit, for file providers.
    case fileprovider
    /// From ActivityKit, to start a Live Activity; each running activity has a token of its own besides.
    case liveactivity
    /// From Core Location, for location pushes.
    case location
    /// From the Push to Talk framework.
    case pushtotalk
    /// From PushKit, for incoming calls.
    case voip
    /// From WidgetKit, for widgets.
    case widgets

    /// The kinds that a device may have beside its alert token.
    public static let further = allCases.filter { $0 != .alert }

    /// The suffix after the bundle identifier in the header `apns-topic`; empty for the alert token.
    ///
    /// Source: Apple, "Sending notification requests to APNs".
    public var topicSuffix: String {
        switch self {
        case .alert: ""
        case .complication: ".complication"
        case .controls: ".push-type.controls"
        case .fileprovider: ".pushkit.fileprovider"
        case .liveactivity: ".push-type.liveactivity"
        case .location: ".location-query"
        case .pushtotalk: ".voip-ptt"
        case .voip: ".voip"
        case .widgets: ".push-type.widgets"
        }
    }
}

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

    /// Whether it is Apple's push service; only there may a device have tokens of several kinds.
    public var isAPNs: Bool { self == .apns || self == .apnsSandbox }
}
