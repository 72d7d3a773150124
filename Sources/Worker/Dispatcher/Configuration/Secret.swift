/// Text that must never be printed: a password, or a URL that holds one.
///
/// Any accidental print of the value (interpolation, `dump`, a debugger's summary) shows `[redacted]`.
public struct Secret: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The text printed in place of a secret.
    public static let placeholder = "[redacted]"

    /// The secret itself; only for the library that needs it.
    public let revealed: String

    /// Wraps a secret.
    public init(_ text: String) { revealed = text }

    /// `[redacted]`.
    public var description: String { Self.placeholder }
    /// `[redacted]`.
    public var debugDescription: String { Self.placeholder }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
