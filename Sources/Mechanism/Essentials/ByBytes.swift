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

/// What `ByBytes` may hold: a text, a text or nil, a list of texts.
public protocol ByteComparable: Sendable {
    /// What it is compared as.
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
