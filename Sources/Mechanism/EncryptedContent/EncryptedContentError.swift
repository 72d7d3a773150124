internal import Crypto

/// A message that cannot be encrypted, or a body that is not as RFC 8188 and RFC 8291 want it.
public struct EncryptedContentError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure, for code.
    public enum Code: Sendable, Hashable {
        /// A recipient's public key or authentication secret is unusable: no message can be encrypted for it.
        case recipientInvalid
        /// The plaintext does not fit into one body.
        case plaintextTooLong
        /// A body's header is cut off, or its values break a rule.
        case headerInvalid
        /// The sender's public key in a body's header is no point on P-256.
        case senderInvalid
        /// A body does not hold exactly one record.
        case recordInvalid
        /// A record was changed, or encrypted for another recipient.
        case authenticationFailed
        /// A decrypted record does not end with the delimiter of a last record and padding.
        case paddingInvalid
        /// OpenSSL refused something that should always work (usually: no memory).
        case libraryFailed
    }

    /// The kind of failure, for code.
    public let code: Code
    /// The problem and the rule, for people; no part of a key or of a plaintext.
    public let message: String

    /// The message.
    public var description: String { message }

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Takes over an error of the cryptography.
    ///
    /// - Parameters:
    ///   - error: the error.
    ///   - code: the kind of failure if the error is about a key.
    init(_ error: CryptoError, key code: Code) {
        self.init(error.code == .keyInvalid ? code : .libraryFailed, error.message)
    }
}
