extension String {
    /// Reads the bytes in place.
    func readingUTF8<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        var text = self
        return text.withUTF8(body)
    }

    /// For messages: the beginning of a text from outside, in quotes, on one line.
    var excerpt: String {
        let charactersMaximum = 80
        var excerpt = "\""
        for scalar in unicodeScalars.prefix(charactersMaximum) {
            excerpt.unicodeScalars.append(scalar.properties.generalCategory == .control ? "?" : scalar)
        }
        return excerpt + (unicodeScalars.count > charactersMaximum ? "…\"" : "\"")
    }
}

extension Collection<UInt8> {
    /// Whether the bytes are those of a text of ASCII, letters of either case being the same.
    func isEqual(ignoringCase text: String) -> Bool {
        elementsEqual(text.utf8) { byte, other in byte == other || Self.lowercase(byte) == Self.lowercase(other) }
    }

    /// Whether the bytes begin with those of a text of ASCII, letters of either case being the same.
    func hasPrefix(ignoringCase text: String) -> Bool {
        starts(with: text.utf8) { byte, other in byte == other || Self.lowercase(byte) == Self.lowercase(other) }
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 { (0x41...0x5a).contains(byte) ? byte | 0x20 : byte }
}
