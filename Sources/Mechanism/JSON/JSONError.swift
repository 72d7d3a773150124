/// Why some bytes are not a JSON document that we accept.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The ways in which a document is refused.
    public enum Code: String, CaseIterable, Sendable {
        /// There is nothing but white space.
        case empty
        /// The document is larger than the parser's maximum, or than memory allows.
        case tooLarge
        /// The bytes are not UTF-8.
        case invalidUTF8
        /// The text breaks JSON's grammar (RFC 8259).
        case invalidSyntax
        /// Arrays and objects are nested more deeply than the parser's maximum.
        case tooDeep
        /// A number is grammatical, but an integer beyond 64 bits or a magnitude beyond a double's.
        case numberOutOfRange
        /// A key occurs twice in one object, which readers understand in different ways.
        case repeatedKey
    }

    /// The machine-readable reason.
    public let code: Code
    /// The offset of the fault in bytes from the start of the document; nil if the fault has no offset.
    public let byteOffset: Int?
    /// The problem and the expected text.
    public let message: String

    /// Creates an error.
    public init(_ code: Code, byteOffset: Int? = nil, _ message: String) {
        self.code = code
        self.byteOffset = byteOffset
        self.message = message
    }

    /// The message, with the offset of the fault if it has one.
    public var description: String {
        guard let byteOffset else { return message }
        return "byte \(byteOffset): \(message)"
    }
}
