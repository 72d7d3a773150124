/// A text that is equal to another one exactly if its bytes of UTF-8 are the same, and that is ordered by them.
///
/// What names something and came from outside is this in sets and dictionaries: `String` would take two names for one
/// that differ by their normal form only, and would order them otherwise than databases do.
public struct ByteText: Hashable, Comparable, Sendable {
    /// The text itself.
    public let text: String

    /// Takes a text as its bytes.
    public init(_ text: String) { self.text = text }

    /// Whether two texts have the same bytes.
    public static func == (left: ByteText, right: ByteText) -> Bool { left.text.hasBytes(of: right.text) }

    /// Whether a text comes before another one, by their bytes.
    public static func < (left: ByteText, right: ByteText) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    /// Hashes the bytes, and their end.
    public func hash(into hasher: inout Hasher) {
        text.readingUTF8 { bytes in hasher.combine(bytes: UnsafeRawBufferPointer(bytes)) }
        // No byte of UTF-8, so that two texts in a row do not hash as two others.
        hasher.combine(UInt8.max)
    }
}
