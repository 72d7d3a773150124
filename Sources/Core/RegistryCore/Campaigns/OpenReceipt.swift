public import ChangeEvents
import Essentials

/// A statement that an event of a campaign asked for a push; only the servers of the registry can write one.
///
/// It travels in the payload of the push, and comes back with a device's report that its user opened it. It names no
/// device: the report proves whose it is by the device's token.
///
/// The text is base64url without padding of
///
/// | bytes | what |
/// |---|---|
/// | 1 | the version, 1 |
/// | 4 | the hour in which it was issued, big endian |
/// | 16 | `EventDigest.bytes` |
/// | 1 | the length of the name of the app |
/// | | the names of the app and of the campaign |
/// | 16 | the first half of HMAC-SHA-256 of all before it |
public struct OpenReceipt: Hashable, Sendable {
    /// How long a receipt is good for at most, in hours; no longer than reports are kept.
    public static let hoursMaximum: Int64 = 90 * 24
    /// The longest text, in bytes.
    static let textBytesMaximum = 600
    /// How many bytes name the event.
    public static let eventBytes = 16

    private static let version: UInt8 = 1
    private static let hourBytes = 4
    private static let headBytes = 1 + hourBytes + eventBytes + 1

    /// The campaign of the push.
    public var campaign: CampaignKey
    /// The event that asked for it, `eventBytes` bytes.
    public var event: [UInt8]
    /// The hour in which the receipt was issued, in whole hours since 1970.
    var hour: Int64

    /// Describes a push.
    public init(campaign: CampaignKey, event: EventDigest, hour: Int64) {
        self.campaign = campaign
        self.event = event.bytes
        self.hour = Int64(UInt32(clamping: hour))
    }

    /// The text with its proof; nil if the campaign breaks the rules for its names.
    public func text(mac: ReceiptAuthentication) -> String? {
        guard campaign.isValid, event.count == Self.eventBytes else { return nil }
        var bytes = [Self.version]
        withUnsafeBytes(of: UInt32(clamping: hour).bigEndian) { bytes.append(contentsOf: $0) }
        bytes += event
        bytes.append(UInt8(clamping: campaign.app.utf8.count))
        bytes += Array(campaign.app.utf8)
        bytes += Array(campaign.name.utf8)
        return Base64URL.encode(bytes + mac.code(of: bytes))
    }

    /// Reads a text and checks its proof; nil for a text that no server writes, and without the right proof.
    ///
    /// - Parameters:
    ///   - text: any text.
    ///   - mac: the servers' own secret.
    public init?(text: String, mac: ReceiptAuthentication) {
        guard text.utf8.count <= Self.textBytesMaximum, let all = Base64URL.decode(text),
            all.count > Self.headBytes + ReceiptAuthentication.codeBytes, all[0] == Self.version
        else { return nil }
        let bytes = Array(all.dropLast(ReceiptAuthentication.codeBytes))
        // Before anything of it is believed.
        guard mac.isRight(Array(all.suffix(ReceiptAuthentication.codeBytes)), for: bytes) else { return nil }
        let names = bytes[Self.headBytes...]
        let appBytes = Int(bytes[Self.headBytes - 1])
        guard let app = String(validating: names.prefix(appBytes), as: UTF8.self),
            let name = String(validating: names.dropFirst(appBytes), as: UTF8.self)
        else { return nil }
        campaign = CampaignKey(app: app, name: name)
        event = Array(bytes[(1 + Self.hourBytes)..<(1 + Self.hourBytes + Self.eventBytes)])
        hour = bytes[1...Self.hourBytes].reduce(0) { $0 << 8 | Int64($1) }
        guard campaign.isValid else { return nil }
    }

    /// Whether a report with it is too late.
    ///
    /// - Parameters:
    ///   - nowMilliseconds: the time, in milliseconds since 1970.
    ///   - hours: how long reports are kept, in hours: a receipt that outlived its report would count again.
    /// - Returns: whether it is.
    public func isExpired(nowMilliseconds: Int64, keptHours hours: Int64 = hoursMaximum) -> Bool {
        hour < CampaignRules.hour(ofMilliseconds: nowMilliseconds) - min(max(hours, 0), Self.hoursMaximum)
    }
}

/// The secret by which the servers of one registry recognise their own receipts.
///
/// It is derived from the courier key, which all servers of a registry have. The algorithm comes from outside, because
/// the core has no cryptography.
public struct ReceiptAuthentication: Sendable {
    /// How many bytes of a code are kept.
    static let codeBytes = 16
    private static let label = "apus opens 1"

    private let key: [UInt8]
    private let authenticate: @Sendable (_ message: [UInt8], _ key: [UInt8]) -> [UInt8]

    /// Derives the secret.
    ///
    /// - Parameters:
    ///   - key: the key of the servers.
    ///   - code: HMAC with SHA-256, which answers 32 bytes.
    public init(_ key: CourierKey, code: @escaping @Sendable (_ message: [UInt8], _ key: [UInt8]) -> [UInt8]) {
        self.key = code(Array(Self.label.utf8), key.bytes)
        authenticate = code
    }

    func code(of message: [UInt8]) -> [UInt8] { Array(authenticate(message, key).prefix(Self.codeBytes)) }

    /// Whether a code is that of a message, in a time that does not depend on where they differ.
    func isRight(_ code: [UInt8], for message: [UInt8]) -> Bool {
        let expected = self.code(of: message)
        return zip(code, expected).reduce(UInt8(code.count == expected.count ? 0 : 1)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

extension ReceiptAuthentication: CustomStringConvertible, CustomReflectable {
    /// Nothing of the secret.
    public var description: String { "receipt authentication" }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
