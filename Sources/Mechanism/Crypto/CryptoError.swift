/// A key, a certificate or a TLS connection is not as it has to be.
public struct CryptoError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What went wrong, for code that decides.
    public enum Code: Sendable, Hashable {
        /// The peer's certificate is not trusted, not valid now, or made out to another name.
        case certificateRejected
        /// A certificate of ours cannot be read, made or used with its key.
        case certificateInvalid
        /// The peer's bytes are not TLS: wrong port, or a server without TLS.
        case protocolMissing
        /// The TLS handshake failed for a reason other than the certificate.
        case handshakeFailed
        /// The text holds no key at all.
        case keyMissing
        /// The text holds a key of another kind or curve, an encrypted key, or a damaged one.
        case keyInvalid
        /// The socket reported an error.
        case ioFailed
        /// The peer closed the connection before the handshake was complete.
        case closed
        /// OpenSSL refused something that should always work (usually: no memory).
        case libraryFailed
    }

    /// What went wrong, for code that decides.
    public let code: Code
    /// What was wrong, where, and what to do about it, for people; holds no part of a key.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
