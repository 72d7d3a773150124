/// Random identifiers, from the system's generator.
public enum RandomIdentifier {
    /// A random UUID in lower case (RFC 9562, version 4).
    public static func uuid() -> String {
        var bytes = (0..<16).map { _ in UInt8.random(in: 0...255) }
        bytes[6] = bytes[6] & 0x0f | 0x40
        bytes[8] = bytes[8] & 0x3f | 0x80
        return uuidText(bytes)
    }

    /// Sixteen bytes in the shape of a UUID.
    public static func uuidText(_ bytes: some Collection<UInt8>) -> String {
        let digits = Array(HexadecimalDigits.text(Array(bytes.prefix(16))))
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }.joined(separator: "-")
    }
}
