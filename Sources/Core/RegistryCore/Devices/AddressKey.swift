import Hashing
public import Notifications

/// The columns `platform` and `token` of a device: a key of bounded size for an address of any size.
///
/// No two devices of an app have the same key, so a registry finds and replaces addresses by it.
///
/// | address | platform | token |
/// |---|---|---|
/// | APNs, courier, and FCM's tokens up to 256 bytes | the platform's number | the address |
/// | FCM's installation IDs and ADM's tokens, up to 255 bytes | GCM's number | a mark, then the address |
/// | Web Push, and longer ones of FCM and ADM | GCM's number | a mark, then SHA-256 of the address |
///
/// A mark is a byte that no token of FCM begins with. It also keeps the services apart, because one text may be an
/// address of several. All these platforms have GCM's number because programs before `schemaVersion` know no higher
/// ones: such a program takes an unknown number for damage and stops, and it leaves devices of GCM out.
public struct AddressKey: Hashable, Sendable {
    /// The version of the schema that brought marks and the table `device_address`.
    public static let schemaVersion: Int64 = 3
    /// The longest key, in bytes.
    public static let bytesMaximum = 256

    /// The value of the column `platform`.
    public let platformNumber: Int64
    /// The value of the column `token`, 1 to `bytesMaximum` bytes.
    public let bytes: [UInt8]
    /// Whether the key needs the schema `schemaVersion`.
    let isMarked: Bool
    /// Whether the key holds a digest, so that the address itself is a `StoredAddress`.
    public let isDigest: Bool

    /// Makes the key of an address.
    public init(_ token: DeviceToken, _ platform: Platform) {
        platformNumber = platform.registryNumber
        let mark = Mark(platform, token)
        // A token of FCM needs no mark, as in the programs before.
        let marked = mark == .gcmToken ? nil : mark
        isDigest =
            platform == .webPush || token.bytes.count + (marked == nil ? 0 : 1) > Self.bytesMaximum && mark != nil
        if let mark, isDigest {
            bytes = [mark.rawValue | Mark.digest] + SHA256.digest(of: token.bytes)
        } else if let marked {
            bytes = [marked.rawValue] + token.bytes
        } else {
            bytes = token.bytes
        }
        isMarked = isDigest || marked != nil
    }

    /// Makes the key of a token whose platform is not known: as one of APNs, courier, or FCM.
    ///
    /// The key is empty, and that of no device, if the token is too long for these.
    public init(ofUnknownPlatform token: DeviceToken) {
        platformNumber = Platform.apns.registryNumber
        bytes = token.bytes.count > Self.bytesMaximum ? [] : token.bytes
        isMarked = false
        isDigest = false
    }
}

// MARK: - Reading

extension AddressKey {
    /// The content of a key.
    public enum Content {
        /// The whole address.
        case address(Platform, DeviceToken)
        /// The mark of an address that is elsewhere.
        case digest(Mark)
    }

    /// Reads the columns `platform` and `token`; nil if they are no key.
    public static func read(platformNumber: Int64, _ bytes: [UInt8]) -> Content? {
        let platform: Platform
        switch platformNumber {
        case 0: platform = .apns
        case 1: platform = .apnsSandbox
        case 2: return readText(bytes)
        case 3: platform = .courier
        default: return nil
        }
        return DeviceToken(bytes: bytes).map { .address(platform, $0) }
    }

    /// Reads the key of an address that is text.
    private static func readText(_ bytes: [UInt8]) -> Content? {
        if let first = bytes.first, let mark = Mark(rawValue: first & ~Mark.digest) {
            if first != mark.rawValue {
                if bytes.count == 1 + SHA256.digestBytes { return .digest(mark) }
            } else if mark == .installationID || mark == .adm,
                let token = DeviceToken(text: Array(bytes.dropFirst()), details: mark.details)
            {
                return .address(mark.platform, token)
            }
        }
        // Programs before took any bytes for a token of GCM.
        return DeviceToken(bytes: bytes).map { .address(.gcm, $0) }
    }

    /// The platform of an address with this key; nil if the columns are no key.
    public static func platform(number: Int64, _ bytes: [UInt8]) -> Platform? {
        switch read(platformNumber: number, bytes) {
        case .address(let platform, _): platform
        case .digest(let mark): mark.platform
        case nil: nil
        }
    }

    /// The first byte of a key that is not the address itself; a released one never changes.
    public enum Mark: UInt8 {
        /// A token of Google Cloud Messaging.
        case gcmToken = 0x01
        /// An installation identifier of Firebase.
        case installationID = 0x02
        /// A registration identifier of Amazon Device Messaging.
        case adm = 0x03
        /// The address of a Web Push subscription.
        case webPush = 0x04

        /// The bit that is set if a digest follows.
        static let digest: UInt8 = 0x10

        private static let detailsOfInstallationID = PushAddressDetails(isInstallationID: true)

        /// The mark of an address; nil where tokens are bytes.
        init?(_ platform: Platform, _ token: DeviceToken) {
            switch platform {
            case .apns, .apnsSandbox, .courier: return nil
            case .gcm: self = token.details?.isInstallationID == true ? .installationID : .gcmToken
            case .adm: self = .adm
            case .webPush: self = .webPush
            }
        }

        /// The platform of an address with the mark.
        public var platform: Platform {
            switch self {
            case .gcmToken, .installationID: .gcm
            case .adm: .adm
            case .webPush: .webPush
            }
        }

        /// The details that the mark implies; nil for most marks.
        var details: PushAddressDetails? { self == .installationID ? Self.detailsOfInstallationID : nil }
    }
}
