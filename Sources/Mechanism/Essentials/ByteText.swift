/// A text that is equal to another one exactly if its bytes of UTF-8 are the same, and that is ordered by them.
///
/// Names from outside have this type in sets and dictionaries. `String` would equate names that differ only by their
/// normal form, and would order them otherwise than databases do.
public struct ByteText: Hashable, Comparable, Sendable {
    /// The text itself.
    public let text: String

    /// Takes a text as its bytes.
    public init(_ text: String) { self.text = text }

    /// Whether two texts have the same bytes.
    public static func == (left: ByteText, right: ByteText) -> Bool { left.text.hasBytes(of: right.text) }

    /// Whether a text comes before another one, by their bytes.
    public static func < (left: ByteText, right: ByteText) -> Bool {
        left.text.byteOrder(to: right.text) < 0
    }

    /// Hashes the bytes, and their end.
    public func hash(into hasher: inout Hasher) {
        text.readingUTF8 { bytes in hasher.combine(bytes: UnsafeRawBufferPointer(bytes)) }
        // No byte of UTF-8, so that two texts in a row do not hash as two others.
        hasher.combine(UInt8.max)
    }
}

/// A name in a value that is compared by its bytes when the value is compared, and not as Swift compares texts.
@propertyWrapper
public struct ByBytes<Value: ByteComparable>: Hashable, Sendable {
    /// The name.
    public var wrappedValue: Value

    /// Takes a name.
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

    /// Whether two names have the same bytes.
    public static func == (left: ByBytes, right: ByBytes) -> Bool {
        left.wrappedValue.comparedByBytes == right.wrappedValue.comparedByBytes
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) { hasher.combine(wrappedValue.comparedByBytes) }
}

extension ByBytes: CustomDebugStringConvertible {
    /// The name alone.
    public var debugDescription: String { String(reflecting: wrappedValue) }
}

/// A value for `ByBytes`: a text, an optional text, or a list of texts.
public protocol ByteComparable: Sendable {
    /// The type that is compared.
    associatedtype Compared: Hashable
    /// The same, compared by bytes.
    var comparedByBytes: Compared { get }
}

extension String: ByteComparable {
    /// The text, compared by its bytes.
    public var comparedByBytes: ByteText { ByteText(self) }
}

extension String?: ByteComparable {
    /// The text, compared by its bytes.
    public var comparedByBytes: ByteText? { map(ByteText.init) }
}

extension [String]: ByteComparable {
    /// The texts, each compared by its bytes.
    public var comparedByBytes: [ByteText] { map(ByteText.init) }
}
