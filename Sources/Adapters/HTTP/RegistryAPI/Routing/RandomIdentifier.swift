/// Random identifiers, from the system's generator.
enum RandomIdentifier {
    /// A random UUID in lower case (RFC 9562, version 4).
    static func uuid() -> String {
        var bytes = (0..<16).map { _ in UInt8.random(in: 0...255) }
        bytes[6] = bytes[6] & 0x0f | 0x40
        bytes[8] = bytes[8] & 0x3f | 0x80
        return uuidText(bytes)
    }

    /// Sixteen bytes in the shape of a UUID.
    static func uuidText(_ bytes: some Collection<UInt8>) -> String {
        var text = ""
        for (index, byte) in bytes.prefix(16).enumerated() {
            if [4, 6, 8, 10].contains(index) { text += "-" }
            text += (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return text
    }
}
