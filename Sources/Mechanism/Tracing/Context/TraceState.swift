/// The additions of vendors to a trace's context: a list of `key=value`, handed on as it came.
///
/// Source: W3C Trace Context section 3.3, with the keys of Level 2, which take in those of Level 1.
public struct TraceState: Hashable, Sendable {
    /// The most bytes that are handed on; the standard asks for at least as many.
    public static let bytesMaximum = 512
    private static let membersMaximum = 32
    private static let keyBytesMaximum = 256
    private static let valueBytesMaximum = 256

    /// The list as it came.
    public let text: String

    /// Checks a `tracestate`; nil if it is empty, longer than 512 bytes, malformed, or names a key twice.
    ///
    /// Then it is not handed on, and the rest of the context is.
    ///
    /// - Parameter bytes: the value.
    public init?(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard bytes.count <= Self.bytesMaximum, Self.isList(bytes) else { return nil }
        text = String(decoding: bytes, as: UTF8.self)
    }

    /// Checks a `tracestate` that is a string.
    public init?(_ text: String) {
        var text = text
        guard let state = text.withUTF8({ TraceState($0) }) else { return nil }
        self = state
    }

    private static func isList(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var keys: [Slice<UnsafeBufferPointer<UInt8>>] = []
        for member in bytes.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            let member = trimmed(member)
            // Empty members are allowed, and mean nothing.
            guard !member.isEmpty else { continue }
            guard keys.count < membersMaximum, let equals = member.firstIndex(of: UInt8(ascii: "=")) else {
                return false
            }
            let key = member[..<equals]
            guard isKey(key), isValue(member[(equals + 1)...]), !keys.contains(where: { $0.elementsEqual(key) }) else {
                return false
            }
            keys.append(key)
        }
        return !keys.isEmpty
    }

    private static func isKey(_ key: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        guard key.count <= keyBytesMaximum, let first = key.first, isLetterOrDigit(first) else { return false }
        return key.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "*"), UInt8(ascii: "/"), UInt8(ascii: "@"): true
            default: isLetterOrDigit(byte)
            }
        }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (0x61...0x7a).contains(byte) || (0x30...0x39).contains(byte)
    }

    private static func isValue(_ value: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        (1...valueBytesMaximum).contains(value.count)
            && value.allSatisfy { byte in (0x20...0x7e).contains(byte) && byte != UInt8(ascii: "=") }
    }

    private static func trimmed(_ member: Slice<UnsafeBufferPointer<UInt8>>) -> Slice<UnsafeBufferPointer<UInt8>> {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        let begun = member.drop(while: isBlank)
        guard let last = begun.lastIndex(where: { !isBlank($0) }) else { return begun.suffix(0) }
        return begun[...last]
    }
}
