public import Crypto

/// Why an HTTP/2 connection ended.
public enum HTTP2CloseReason: Sendable, CustomStringConvertible {
    /// This side closed it, or has sent GOAWAY and the last stream has ended.
    case local
    /// The peer closed it, or has sent GOAWAY and the last stream has ended.
    case peerClosed
    /// The socket failed, or the peer was not ready in time.
    case transport(String)
    /// The TLS handshake failed.
    case tls(CryptoError)
    /// TLS succeeded, but the peer did not agree to HTTP/2 by ALPN.
    case noHTTP2
    /// The peer broke the rules of HTTP/2.
    case protocolViolation(String)

    /// One line for logs.
    public var description: String {
        switch self {
        case .local: "closed by this side"
        case .peerClosed: "closed by the peer"
        case .transport(let reason): reason
        case .tls(let error): error.message
        case .noHTTP2: "the peer does not offer HTTP/2 (no 'h2' in ALPN)"
        case .protocolViolation(let reason): "the peer broke the HTTP/2 protocol: \(reason)"
        }
    }
}
