/// The secret that the servers of one registry share; they recognise their own tokens by it.
///
/// The key is stored in the registry, in the clear, and copied with it. It is not printed: neither a description nor a
/// mirror shows it.
public struct CourierKey: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// How many bytes it has.
    public static let byteCount = 32

    /// The key itself.
    public let bytes: [UInt8]

    /// Accepts `byteCount` bytes, or answers nil.
    public init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    private init(generated: Void) { bytes = (0..<Self.byteCount).map { _ in UInt8.random(in: 0...255) } }

    /// Makes a key from the system's random numbers.
    public static func random() -> CourierKey { CourierKey(generated: ()) }

    /// Nothing of the key.
    public var description: String { "server key" }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
