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
    /// - Parameter digits: a text of which no token can be read.
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
