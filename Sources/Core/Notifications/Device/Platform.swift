/// A service that carries pushes to devices.
public enum PushService: String, CaseIterable, Sendable {
    /// Apple Push Notification service.
    case apns
    /// Google's Firebase Cloud Messaging, HTTP v1.
    case fcm
    /// Amazon Device Messaging.
    case adm
    /// A browser's push service (RFC 8030), which the subscription's endpoint names.
    case webPush = "webpush"
    /// The registry's own API, from which clients without a push service fetch their notifications.
    case courier

    /// The name for people.
    public var title: String {
        switch self {
        case .apns: "APNs"
        case .fcm: "FCM"
        case .adm: "ADM"
        case .webPush: "Web Push"
        case .courier: "the registry's API"
        }
    }

    /// The platforms whose devices it reaches.
    public var platforms: [Platform] { Platform.allCases.filter { $0.service == self } }
}

/// The push service, and its environment, that a device token belongs to.
///
/// The first four names are Amazon Cognito's. `WEB` means clients that fetch, and is older than `WEB_PUSH`.
public enum Platform: String, CaseIterable, Sendable {
    /// Apple's production environment (`api.push.apple.com`).
    case apns = "APNS"
    /// Apple's development environment (`api.sandbox.push.apple.com`).
    case apnsSandbox = "APNS_SANDBOX"
    /// Google's Firebase Cloud Messaging.
    case gcm = "GCM"
    /// Amazon Device Messaging.
    case adm = "ADM"
    /// A client without a push service that fetches its notifications from the registry's API.
    case courier = "WEB"
    /// A browser that subscribed to its own push service (W3C Push API).
    case webPush = "WEB_PUSH"

    /// Whether it is Apple's push service; only there may a device have tokens of several kinds.
    public var isAPNs: Bool { self == .apns || self == .apnsSandbox }

    /// A form of addresses.
    public enum AddressForm: Sendable {
        /// A token of bytes, which is written in hexadecimal digits.
        case bytes
        /// A token of printable characters.
        case text
        /// The endpoint of a Web Push subscription, with its keys.
        case subscription
    }

    /// The form of its devices' addresses.
    public var addressForm: AddressForm {
        switch self {
        case .apns, .apnsSandbox, .courier: .bytes
        case .gcm, .adm: .text
        case .webPush: .subscription
        }
    }

    /// Whether an address is text, and not bytes that are written in hexadecimal digits.
    public var hasTextTokens: Bool { addressForm != .bytes }

    /// The push service that carries its pushes.
    public var service: PushService {
        switch self {
        case .apns, .apnsSandbox: .apns
        case .gcm: .fcm
        case .adm: .adm
        case .courier: .courier
        case .webPush: .webPush
        }
    }

    /// The index of the platform in arrays that are kept by platform.
    var index: Int {
        switch self {
        case .apns: 0
        case .apnsSandbox: 1
        case .gcm: 2
        case .adm: 3
        case .courier: 4
        case .webPush: 5
        }
    }
}
