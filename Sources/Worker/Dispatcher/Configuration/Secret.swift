/// Text that must never be printed: a password, or a URL that holds one.
///
/// Whatever prints a value by accident (interpolation, `dump`, a debugger's summary) shows `[redacted]`.
public struct Secret: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// What stands in place of a secret.
    public static let placeholder = "[redacted]"

    /// The secret itself; to be handed to the library that needs it and to nothing else.
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
