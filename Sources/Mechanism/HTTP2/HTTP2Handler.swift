public import Crypto

/// Receives the events of an HTTP/2 connection.
///
/// All methods run on the connection's loop and may call the connection; frames that they submit are written at the end
/// of the tick. After `close()` no method but `http2Closed` is called. Pointers are valid during the call only.
public protocol HTTP2Handler: AnyObject {
    /// TLS and ALPN are agreed and the peer's first SETTINGS have been received: requests can be submitted.
    func http2Ready(_ connection: HTTP2Connection)
    /// The peer's SETTINGS arrived, the first (after `http2Ready`) or later ones; their values can be read.
    func http2SettingsReceived(_ connection: HTTP2Connection)
    /// The peer takes more bytes of bodies on the connection (WINDOW_UPDATE); `submittableBodyBytes` says how many.
    func http2WindowOpened(_ connection: HTTP2Connection)
    /// One header field of a request, a response or a trailer; pseudo-header fields come first, names in lower case.
    func http2HeaderReceived(
        _ connection: HTTP2Connection, stream: Int32, name: UnsafeBufferPointer<UInt8>,
        value: UnsafeBufferPointer<UInt8>)
    /// A header block is complete; a stream may have several (informational, final, trailer).
    func http2HeadersEnded(_ connection: HTTP2Connection, stream: Int32)
    /// A part of a body.
    func http2DataReceived(_ connection: HTTP2Connection, stream: Int32, bytes: UnsafeRawBufferPointer)
    /// The peer has sent the whole request or response.
    func http2StreamEnded(_ connection: HTTP2Connection, stream: Int32)
    /// The stream is gone: complete in both directions (error code 0), or reset by either side.
    ///
    /// `REFUSED_STREAM` (7) says that the request was not processed, also for one that was never written. Streams that
    /// are open when the connection ends are not reported one by one: `http2Closed` ends them all.
    func http2StreamClosed(_ connection: HTTP2Connection, stream: Int32, errorCode: UInt32)
    /// The peer takes no new streams, and has not processed those above `lastStreamID`: they close next.
    ///
    /// A request that still waits for a free stream closes as refused when its turn comes, or with the connection.
    func http2GoAwayReceived(
        _ connection: HTTP2Connection, lastStreamID: Int32, errorCode: UInt32, debugData: [UInt8])
    /// The peer answered the PING with this content.
    func http2PingAcknowledged(_ connection: HTTP2Connection, opaque: UInt64)
    /// The connection has ended; called exactly once, at the end of a tick.
    ///
    /// The connection then releases the handler.
    func http2Closed(_ connection: HTTP2Connection, reason: HTTP2CloseReason)
}

extension HTTP2Handler {
    /// Ignores the event.
    public func http2Ready(_ connection: HTTP2Connection) {}
    /// Ignores the event.
    public func http2SettingsReceived(_ connection: HTTP2Connection) {}
    /// Ignores the event.
    public func http2WindowOpened(_ connection: HTTP2Connection) {}
    /// Ignores the event.
    public func http2HeadersEnded(_ connection: HTTP2Connection, stream: Int32) {}
    /// Ignores the event.
    public func http2DataReceived(_ connection: HTTP2Connection, stream: Int32, bytes: UnsafeRawBufferPointer) {}
    /// Ignores the event.
    public func http2GoAwayReceived(
        _ connection: HTTP2Connection, lastStreamID: Int32, errorCode: UInt32, debugData: [UInt8]
    ) {}
    /// Ignores the event.
    public func http2PingAcknowledged(_ connection: HTTP2Connection, opaque: UInt64) {}
}

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
