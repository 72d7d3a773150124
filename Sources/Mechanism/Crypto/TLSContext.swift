import COpenSSL
import Glibc

/// The common settings of all TLS connections of one kind: trust anchors or identity, protocol versions, ALPN.
///
/// Sessions on several threads can be made from it.
///
/// unchecked because the context is never changed after `init`, and OpenSSL counts its references atomically.
public final class TLSContext: @unchecked Sendable {
    /// Bytes that one read takes from the socket at most; several records fit.
    private static let readBufferBytes = 64 * 1_024

    let pointer: OpaquePointer
    /// The server's application protocols in wire form; the selection callback reads it, so it lives as long as this.
    private let protocols: UnsafeMutableBufferPointer<UInt8>

    private init(method: OpaquePointer?, applicationProtocols: [String]) throws(CryptoError) {
        var wire: [UInt8] = []
        for name in applicationProtocols {
            precondition((1...255).contains(name.utf8.count), "an application protocol has 1 to 255 bytes")
            wire.append(UInt8(name.utf8.count))
            wire.append(contentsOf: name.utf8)
        }
        ERR_clear_error()
        guard let pointer = SSL_CTX_new(method) else { throw OpenSSLErrors.failure(of: "SSL_CTX_new") }
        self.pointer = pointer
        protocols = .allocate(capacity: wire.count)
        _ = protocols.initialize(from: wire)
        guard copenssl_require_tls12(pointer) == 1 else { throw OpenSSLErrors.failure(of: "SSL_CTX_set_min_proto") }
        copenssl_configure_transfer(pointer, Self.readBufferBytes)
    }

    deinit {
        SSL_CTX_free(pointer)
        protocols.deallocate()
    }

    /// Makes the context of connections to servers.
    ///
    /// The server must show a certificate for the session's server name that leads to a trust anchor of the system or
    /// of the extra file.
    ///
    /// The system's anchors take half a megabyte. So all users of the same anchors share a context, until a file has
    /// changed.
    ///
    /// - Parameters:
    ///   - extraTrustAnchorsFile: path of a PEM file with certificates to trust besides the system's.
    ///   - applicationProtocols: the protocols to offer by ALPN (RFC 7301), the preferred first.
    /// - Returns: a context for any number of sessions on any thread.
    /// - Throws: `CryptoError` with `certificateInvalid` if the file cannot be read or holds no certificate.
    public static func client(
        extraTrustAnchorsFile: String?,
        applicationProtocols: [String]
    ) throws(CryptoError) -> TLSContext {
        try shared.context(extraTrustAnchorsFile, applicationProtocols) { () throws(CryptoError) in
            try makeClient(extraTrustAnchorsFile: extraTrustAnchorsFile, applicationProtocols: applicationProtocols)
        }
    }

    private static let shared = SharedTLSContexts()

    private static func makeClient(
        extraTrustAnchorsFile: String?, applicationProtocols: [String]
    ) throws(CryptoError) -> TLSContext {
        let context = try TLSContext(method: TLS_client_method(), applicationProtocols: applicationProtocols)
        SSL_CTX_set_verify(context.pointer, SSL_VERIFY_PEER, nil)
        guard SSL_CTX_set_default_verify_paths(context.pointer) == 1 else {
            throw OpenSSLErrors.failure(of: "SSL_CTX_set_default_verify_paths")
        }
        // A missing system store is an error for the handshake, not for a context that may have extra anchors.
        ERR_clear_error()
        if let file = extraTrustAnchorsFile, SSL_CTX_load_verify_file(context.pointer, file) != 1 {
            throw CryptoError(
                lacksResources(toOpen: file) ? .libraryFailed : .certificateInvalid,
                "cannot load trust anchors from '\(file)': \(OpenSSLErrors.take()); it must be a readable PEM file"
            )
        }
        let wire = context.protocols
        guard wire.isEmpty || SSL_CTX_set_alpn_protos(context.pointer, wire.baseAddress, UInt32(wire.count)) == 0 else {
            throw OpenSSLErrors.failure(of: "SSL_CTX_set_alpn_protos")
        }
        return context
    }

    /// Whether a file cannot be opened for want of descriptors or memory.
    private static func lacksResources(toOpen file: String) -> Bool {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor < 0 else {
            close(descriptor)
            return false
        }
        return [EMFILE, ENFILE, ENOMEM].contains(errno)
    }

    /// Makes the context of connections from clients.
    ///
    /// - Parameters:
    ///   - identity: the certificate chain to show and its private key.
    ///   - applicationProtocols: the protocols to accept by ALPN, the preferred first; with none, ALPN is not answered.
    ///   - isForManyConnections: whether connections that are silent hold as little memory as can be, at the price of
    ///     more calls to the allocator.
    /// - Returns: a context for any number of sessions on any thread.
    /// - Throws: `CryptoError` if a certificate or the key cannot be read, or they do not belong together.
    public static func server(
        _ identity: ServerIdentity,
        applicationProtocols: [String],
        isForManyConnections: Bool = false
    ) throws(CryptoError) -> TLSContext {
        let context = try TLSContext(method: TLS_server_method(), applicationProtocols: applicationProtocols)
        try identity.install(in: context.pointer)
        // TLS 1.2 without forward secrecy, or with CBC and SHA-1, is what old attacks are made for.
        guard SSL_CTX_set_cipher_list(context.pointer, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1 else {
            throw OpenSSLErrors.failure(of: "SSL_CTX_set_cipher_list")
        }
        if isForManyConnections { copenssl_release_buffers(context.pointer) }
        // Tickets would cost two more records a connection, and resumption is worth nothing to connections of days.
        guard SSL_CTX_set_num_tickets(context.pointer, 0) == 1 else {
            throw OpenSSLErrors.failure(of: "SSL_CTX_set_num_tickets")
        }
        guard !context.protocols.isEmpty else { return context }
        // Every session keeps its context alive, so the callback's argument is valid whenever the callback runs.
        let argument = Unmanaged.passUnretained(context).toOpaque()
        SSL_CTX_set_alpn_select_cb(
            context.pointer,
            { _, selected, selectedLength, offered, offeredLength, argument in
                guard let selected, let argument else { return SSL_TLSEXT_ERR_NOACK }
                let wire = Unmanaged<TLSContext>.fromOpaque(argument).takeUnretainedValue().protocols
                return selected.withMemoryRebound(to: UnsafeMutablePointer<UInt8>?.self, capacity: 1) { selected in
                    let result = SSL_select_next_proto(
                        selected,
                        selectedLength,
                        wire.baseAddress,
                        UInt32(wire.count),
                        offered,
                        offeredLength
                    )
                    return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL
                }
            },
            argument
        )
        return context
    }
}
