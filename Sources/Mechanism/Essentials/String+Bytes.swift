internal import Glibc

extension String {
    /// Whether another text has the same bytes of UTF-8.
    ///
    /// Swift's `==` treats texts with different bytes as equal, for example "é" as one scalar and as two. Databases and
    /// clients do not, so names are compared with this method.
    ///
    /// - Parameter other: the other text; nil differs from every text.
    /// - Returns: whether they are the same.
    public func hasBytes(of other: String?) -> Bool {
        guard let other, utf8.count == other.utf8.count else { return false }
        return byteOrder(to: other) == 0
    }

    /// How a text lies to another one by their bytes of UTF-8.
    ///
    /// - Parameter other: the other text.
    /// - Returns: a negative number if this text comes first, 0 if both have the same bytes, else a positive number.
    public func byteOrder(to other: String) -> Int {
        readingUTF8 { bytes in
            other.readingUTF8 { others in
                let common = min(bytes.count, others.count)
                if common > 0, let left = bytes.baseAddress, let right = others.baseAddress {
                    let order = memcmp(left, right, common)
                    if order != 0 { return Int(order) }
                }
                return bytes.count - others.count
            }
        }
    }
}

extension String? {
    /// Whether another text has the same bytes of UTF-8, or both are nil.
    public func hasBytes(of other: String?) -> Bool {
        guard let self else { return other == nil }
        return self.hasBytes(of: other)
    }
}

extension String {
    /// Reads the bytes in place.
    public func readingUTF8<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        var text = self
        return text.withUTF8(body)
    }

    /// For messages: the beginning of a text from outside, in quotes, on one line.
    public var excerpt: String {
        "\"" + shortened(bytesMaximum: 80).printable() + "\""
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether the bytes are those of a text of ASCII, letters of either case being the same.
    public func isEqual(ignoringCase text: StaticString) -> Bool {
        count == text.utf8CodeUnitCount && hasPrefix(ignoringCase: text)
    }

    /// Whether the bytes begin with those of a text of ASCII, letters of either case being the same.
    public func hasPrefix(ignoringCase text: StaticString) -> Bool {
        guard count >= text.utf8CodeUnitCount else { return false }
        for position in 0..<text.utf8CodeUnitCount {
            guard Self.lowercase(self[position]) == Self.lowercase(text.utf8Start[position]) else { return false }
        }
        return true
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 { (0x41...0x5a).contains(byte) ? byte | 0x20 : byte }
}
