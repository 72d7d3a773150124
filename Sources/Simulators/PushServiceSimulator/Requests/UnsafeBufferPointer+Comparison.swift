import Glibc

extension UInt8 {
    /// Whether the byte is a character of base64url: a letter or digit, a hyphen or an underscore.
    public var isBase64URL: Bool {
        switch self {
        case 45, 48...57, 65...90, 95, 97...122: true
        default: false
        }
    }

    /// The byte with the digits A to F in lower case.
    public var lowercasedDigit: UInt8 { (65...70).contains(self) ? self | 0x20 : self }
}

// Comparisons of whole values: the loops of the standard library's `elementsEqual` cost several times as much here.
extension UnsafeBufferPointer<UInt8> {
    /// Whether the bytes are those of the text.
    public func matches(_ text: StaticString) -> Bool {
        count == text.utf8CodeUnitCount && matches(text.utf8Start)
    }

    /// Whether the bytes are the same.
    public func matches(_ other: [UInt8]) -> Bool {
        guard count == other.count else { return false }
        return other.withUnsafeBufferPointer { other in other.baseAddress.map { matches($0) } ?? true }
    }

    /// Whether the bytes begin with others.
    public func begins(with other: [UInt8]) -> Bool {
        count >= other.count && UnsafeBufferPointer(rebasing: self[..<other.count]).matches(other)
    }

    private func matches(_ other: UnsafePointer<UInt8>) -> Bool {
        guard count > 0, let baseAddress else { return true }
        return memcmp(baseAddress, other, count) == 0
    }
}
