/// A JSON value as it came, minified and known to be valid: passed on without being understood.
public struct RawJSON: Hashable, Sendable {
    /// The value's UTF-8 text.
    public var bytes: [UInt8]

    /// Wraps text that the caller knows to be one valid JSON value.
    public init(validated bytes: [UInt8]) { self.bytes = bytes }
}
