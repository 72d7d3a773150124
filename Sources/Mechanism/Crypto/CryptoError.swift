import COpenSSL

/// A key, a certificate or a TLS connection is not as it has to be.
public struct CryptoError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure, for code.
    public enum Code: Sendable, Hashable {
        /// The peer's certificate is not trusted, not valid now, or made out to another name.
        case certificateRejected
        /// A certificate of ours cannot be read, made or used with its key.
        case certificateInvalid
        /// The peer's bytes are not TLS: wrong port, or a server without TLS.
        case protocolMissing
        /// The peer speaks none of the application protocols that were offered (ALPN, RFC 7301 section 3.2).
        case applicationProtocolMissing
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

    /// The kind of failure, for code.
    public let code: Code
    /// The problem, its location and the remedy, for people; no part of a key.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}

/// The error queue that OpenSSL keeps for each thread.
enum OpenSSLErrors {
    /// Empties OpenSSL's queue and returns the text of the innermost error first.
    static func take() -> String {
        var reasons: [String] = []
        while true {
            let code = ERR_get_error()
            guard code != 0 else { break }
            guard let reason = ERR_reason_error_string(code).map({ String(cString: $0) }) else { continue }
            if !reasons.contains(reason) { reasons.append(reason) }
        }
        return reasons.isEmpty ? "no reason given" : reasons.joined(separator: ", ")
    }

    /// Whether the oldest error in the queue is the given one of the TLS library.
    static func firstIs(_ reason: Int32) -> Bool { copenssl_error_reason(ERR_peek_error()) == reason }

    /// The error for a call that fails only when there is no memory left.
    static func failure(of call: StaticString) -> CryptoError {
        CryptoError(.libraryFailed, "\(call) failed: \(take())")
    }
}
