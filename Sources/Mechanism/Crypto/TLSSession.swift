import COpenSSL
import Glibc

/// One TLS connection over a non-blocking socket; it belongs to the thread of its owner.
///
/// The socket stays the caller's: to watch, and to close after the session has been released.
public final class TLSSession {
    /// How far a handshake has come.
    public enum Progress: Sendable, Hashable {
        /// The handshake is complete and the peer's certificate accepted.
        case done
        /// Call again when the socket is readable.
        case wantsRead
        /// Call again when the socket is writable.
        case wantsWrite
    }

    /// The result of a read or a write.
    public enum Transfer: Sendable, Hashable {
        /// So many bytes were taken, at least one.
        case bytes(Int)
        /// Nothing was taken; call again when the socket is readable.
        case wantsRead
        /// Nothing was taken; call again when the socket is writable.
        case wantsWrite
        /// The peer has closed the connection, with or without saying so in TLS.
        case closed
    }

    private let pointer: OpaquePointer
    /// Kept alive for the callbacks that OpenSSL makes into it.
    private let context: TLSContext
    private let peerName: String
    private var isHandshakeDone = false

    private init(context: TLSContext, socket: Int32, peerName: String) throws(CryptoError) {
        ERR_clear_error()
        guard let pointer = SSL_new(context.pointer) else { throw OpenSSLErrors.failure(of: "SSL_new") }
        self.pointer = pointer
        self.context = context
        self.peerName = peerName
        guard SSL_set_fd(pointer, socket) == 1 else { throw OpenSSLErrors.failure(of: "SSL_set_fd") }
    }

    /// Prepares the client's end of a connection.
    ///
    /// - Parameters:
    ///   - context: made by `TLSContext.client`.
    ///   - socket: non-blocking, connected before the handshake begins.
    ///   - serverName: the DNS name or IP address of the certificate; a name is sent as SNI too (RFC 6066 section 3
    ///     forbids addresses there).
    /// - Throws: `CryptoError` if the name cannot be used.
    public convenience init(client context: TLSContext, socket: Int32, serverName: String) throws(CryptoError) {
        try self.init(context: context, socket: socket, peerName: serverName)
        let isUsable: Bool
        if IPAddress.isNumeric(serverName) {
            isUsable = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(pointer), serverName) == 1
        } else {
            SSL_set_hostflags(pointer, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
            isUsable =
                !serverName.isEmpty && !serverName.utf8.contains(0) && SSL_set1_host(pointer, serverName) == 1
                && copenssl_set_server_name(pointer, serverName) == 1
        }
        guard isUsable else {
            let reasons = OpenSSLErrors.take()
            throw CryptoError(.handshakeFailed, "'\(serverName)' is no host name or address for TLS: \(reasons)")
        }
        SSL_set_connect_state(pointer)
    }

    /// Prepares the server's end of a connection.
    ///
    /// - Parameters:
    ///   - context: made by `TLSContext.server`.
    ///   - socket: non-blocking and connected.
    /// - Throws: `CryptoError` if there is no memory left.
    public convenience init(server context: TLSContext, socket: Int32) throws(CryptoError) {
        try self.init(context: context, socket: socket, peerName: "the client")
        SSL_set_accept_state(pointer)
    }

    deinit { SSL_free(pointer) }

    /// Moves the handshake forward as far as the socket allows.
    ///
    /// - Returns: `done`, or what to wait for before the next call.
    /// - Throws: `CryptoError` with the problem of the certificate, or because the peer does not speak TLS.
    public func handshake() throws(CryptoError) -> Progress {
        ERR_clear_error()
        let result = SSL_do_handshake(pointer)
        guard result != 1 else {
            isHandshakeDone = true
            return .done
        }
        let systemError = errno
        switch SSL_get_error(pointer, result) {
        case SSL_ERROR_WANT_READ: return .wantsRead
        case SSL_ERROR_WANT_WRITE: return .wantsWrite
        case let code: throw handshakeFailure(code, systemError: systemError)
        }
    }

    /// The protocol that ALPN agreed on, after the handshake; nil if the peer did not take part.
    public var applicationProtocol: String? {
        var start: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(pointer, &start, &length)
        guard let start, length > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: start, count: Int(length)), as: UTF8.self)
    }

    /// Whether bytes from the peer wait inside the session, so that no readiness of the socket will announce them.
    public var hasPendingInput: Bool { SSL_has_pending(pointer) == 1 }

    /// Takes decrypted bytes, at most one TLS record (16 KiB).
    ///
    /// - Parameter buffer: not empty.
    /// - Returns: how many bytes, or why none.
    /// - Throws: `CryptoError` if the socket failed or the peer broke the TLS protocol.
    public func read(into buffer: UnsafeMutableRawBufferPointer) throws(CryptoError) -> Transfer {
        ERR_clear_error()
        var count = 0
        let result = SSL_read_ex(pointer, buffer.baseAddress, buffer.count, &count)
        guard result != 1 else { return .bytes(count) }
        return try transferWithoutBytes(result, systemError: errno)
    }

    /// Encrypts and sends bytes, at most one TLS record (16 KiB).
    ///
    /// After `wantsRead` or `wantsWrite` the next call must begin with the same bytes, at any address.
    ///
    /// - Parameter bytes: not empty.
    /// - Returns: how many bytes were taken, or why none.
    /// - Throws: `CryptoError` if the socket failed or the peer broke the TLS protocol.
    public func write(_ bytes: UnsafeRawBufferPointer) throws(CryptoError) -> Transfer {
        ERR_clear_error()
        var count = 0
        let result = SSL_write_ex(pointer, bytes.baseAddress, bytes.count, &count)
        guard result != 1 else { return .bytes(count) }
        return try transferWithoutBytes(result, systemError: errno)
    }

    /// Gives the buffers for records back, if no record is in them; the next read or write makes new ones.
    public func releaseBuffers() { _ = SSL_free_buffers(pointer) }

    /// Tells the peer that no more bytes follow, if the socket takes it now; does not wait for the peer's own notice.
    public func closeNotify() {
        guard isHandshakeDone else { return }
        ERR_clear_error()
        _ = SSL_shutdown(pointer)
        ERR_clear_error()
    }

    private func transferWithoutBytes(_ result: Int32, systemError: Int32) throws(CryptoError) -> Transfer {
        switch SSL_get_error(pointer, result) {
        case SSL_ERROR_WANT_READ: return .wantsRead
        case SSL_ERROR_WANT_WRITE: return .wantsWrite
        case SSL_ERROR_ZERO_RETURN: return .closed
        case SSL_ERROR_SYSCALL:
            // After a fatal error OpenSSL must not be asked to say goodbye.
            isHandshakeDone = false
            guard systemError != 0 else { return .closed }
            throw CryptoError(.ioFailed, "the connection to \(peerName) failed: \(Self.text(systemError))")
        default:
            isHandshakeDone = false
            // The frames of the protocol above have lengths of their own, so a truncated stream cannot deceive it.
            if OpenSSLErrors.firstIs(SSL_R_UNEXPECTED_EOF_WHILE_READING) { return .closed }
            throw CryptoError(.ioFailed, "TLS with \(peerName) failed: \(OpenSSLErrors.take())")
        }
    }

    private static func text(_ systemError: Int32) -> String { String(cString: strerror(systemError)) }

    // MARK: Errors of the handshake

    private func handshakeFailure(_ code: Int32, systemError: Int32) -> CryptoError {
        let verification = SSL_get_verify_result(pointer)
        guard verification == X509_V_OK else { return certificateRejection(verification) }
        let isUnexpectedEnd = OpenSSLErrors.firstIs(SSL_R_UNEXPECTED_EOF_WHILE_READING)
        if isUnexpectedEnd || code == SSL_ERROR_ZERO_RETURN || (code == SSL_ERROR_SYSCALL && systemError == 0) {
            return CryptoError(.closed, "\(peerName) closed the connection during the TLS handshake")
        }
        guard code != SSL_ERROR_SYSCALL else {
            return CryptoError(.ioFailed, "the TLS handshake with \(peerName) failed: \(Self.text(systemError))")
        }
        let isOtherProtocol =
            OpenSSLErrors.firstIs(SSL_R_WRONG_VERSION_NUMBER) || OpenSSLErrors.firstIs(SSL_R_HTTP_REQUEST)
            || OpenSSLErrors.firstIs(SSL_R_PACKET_LENGTH_TOO_LONG) || OpenSSLErrors.firstIs(SSL_R_UNKNOWN_PROTOCOL)
        let isOtherApplication = OpenSSLErrors.firstIs(SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL)
        let reasons = OpenSSLErrors.take()
        guard !isOtherApplication else {
            return CryptoError(.applicationProtocolMissing, "\(peerName) speaks none of the offered protocols (ALPN)")
        }
        guard !isOtherProtocol else {
            return CryptoError(
                .protocolMissing,
                "\(peerName) does not speak TLS on this port (\(reasons)); check host and port"
            )
        }
        return CryptoError(.handshakeFailed, "the TLS handshake with \(peerName) failed: \(reasons)")
    }

    private func certificateRejection(_ verification: Int) -> CryptoError {
        _ = OpenSSLErrors.take()
        let advice =
            switch Int32(truncatingIfNeeded: verification) {
            case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
                "it is for another name; connect by a name that it lists, or check for an interception"
            case X509_V_ERR_CERT_HAS_EXPIRED:
                "it has expired; check this machine's clock, then have the server's certificate renewed"
            case X509_V_ERR_CERT_NOT_YET_VALID:
                "it is not valid yet; check this machine's clock"
            case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
                X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
                X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
                "no trust anchor vouches for it; if that is intended, add its issuer to the extra trust anchors"
            default:
                "it cannot be used"
            }
        let reason = String(cString: X509_verify_cert_error_string(verification))
        return CryptoError(.certificateRejected, "the certificate of \(peerName) is rejected: \(advice) (\(reason))")
    }
}
