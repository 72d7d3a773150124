import Essentials

/// The address that a push service gave to one installation of an app: bytes of any length.
///
/// | service | bytes |
/// |---|---|
/// | APNs, the registry's API | the token |
/// | FCM, ADM | the text of the registration token, or of the installation ID |
/// | Web Push | the text of the subscription's endpoint |
///
/// Its description shows only a part, because a whole token in a log lets its reader push to the device.
public struct DeviceToken: Hashable, Sendable, CustomStringConvertible {
    /// The longest token in hexadecimal digits, in bytes; Apple's are 32 today, and "don't make assumptions" about it.
    public static let bytesMaximum = 256
    /// The longest token that is text, in bytes.
    ///
    /// Google says not to assume a size; endpoints of Web Push have up to some 500 bytes at the large services.
    public static let textBytesMaximum = 2_048

    /// The token itself, 1 to `textBytesMaximum` bytes.
    public let bytes: [UInt8]
    /// Further details for a push to it; nil for nearly all.
    public let details: PushAddressDetails?

    /// Accepts 1 to `bytesMaximum` bytes, or answers nil.
    public init?(bytes: [UInt8]) {
        guard !bytes.isEmpty, bytes.count <= Self.bytesMaximum else { return nil }
        self.bytes = bytes
        details = nil
    }

    /// A placeholder where there has to be a token and no device has one.
    public static let ofNoDevice = DeviceToken()

    private init() {
        bytes = [0]
        details = nil
    }

    /// Accepts the text of a token, or answers nil if it is none.
    ///
    /// - Parameters:
    ///   - text: 1 to `textBytesMaximum` bytes of printable ASCII without blanks.
    ///   - details: further details for a push to it.
    public init?(text: [UInt8], details: PushAddressDetails? = nil) {
        guard !text.isEmpty, text.count <= Self.textBytesMaximum, text.allSatisfy({ (0x21...0x7e).contains($0) })
        else { return nil }
        bytes = text
        self.details = details
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

    /// The token as its platform writes it: text, or lowercase hexadecimal digits; never for a log.
    public func text(for platform: Platform) -> String {
        platform.hasTextTokens ? String(decoding: bytes, as: UTF8.self) : hexadecimal
    }

    /// The beginning of the token as its platform writes it, and the length: too little to use it.
    ///
    /// It is for the owners of the device; of an endpoint it is the host.
    public func excerpt(for platform: Platform) -> String {
        guard platform.hasTextTokens, platform != .webPush else { return description }
        let start = String(decoding: bytes.prefix(min(8, bytes.count / 2)), as: UTF8.self)
        return "\(start)…(\(bytes.count) characters)"
    }

    /// The first four bytes and the length: enough to find a token again, too little to use it.
    ///
    /// Of an endpoint it is the host in place of the bytes.
    public var description: String {
        guard details?.webPushKeys == nil else { return "\(endpointHost)…(\(bytes.count) bytes)" }
        let start = HexadecimalDigits.text(Array(bytes.prefix(4)))
        return "\(start)…(\(bytes.count) bytes)"
    }

    /// The host of an endpoint, `https://HOST/…`.
    private var endpointHost: String {
        let parts = bytes.split(separator: UInt8(ascii: "/"), maxSplits: 3)
        return parts.count < 2 ? "" : String(decoding: parts[1].prefix(64), as: UTF8.self)
    }
}
