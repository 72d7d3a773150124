import COpenSSL

/// Makes P-256 key pairs and agrees on secrets with them (ECDH, NIST SP 800-56A section 5.7.1.2).
///
/// It keeps what OpenSSL would otherwise look up and allocate each time: the generator of keys, and the key that each
/// peer's point is read into. That is more than half of the time. It belongs to one thread.
public final class P256KeyAgreement {
    /// The length of a shared secret: the x coordinate of the product.
    public static let secretBytes = 32

    private let generator: OpaquePointer
    /// The peer's key of the present agreement.
    private let peer: OpaquePointer

    /// Creates it.
    ///
    /// - Throws: `CryptoError` if OpenSSL has no memory left.
    public init() throws(CryptoError) {
        ERR_clear_error()
        guard let generator = EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else {
            throw OpenSSLErrors.failure(of: "EVP_PKEY_CTX_new_from_name")
        }
        guard let peer = Self.makePeer(with: generator) else {
            EVP_PKEY_CTX_free(generator)
            throw OpenSSLErrors.failure(of: "EVP_PKEY_keygen_init")
        }
        self.generator = generator
        self.peer = peer
    }

    /// Sets the generator up, and makes a key that has the parameters of the curve and no point yet.
    private static func makePeer(with generator: OpaquePointer) -> OpaquePointer? {
        var model: OpaquePointer?
        defer { EVP_PKEY_free(model) }
        guard EVP_PKEY_keygen_init(generator) == 1, EVP_PKEY_CTX_set_group_name(generator, "P-256") == 1,
            EVP_PKEY_generate(generator, &model) == 1, let peer = EVP_PKEY_new()
        else { return nil }
        guard EVP_PKEY_copy_parameters(peer, model) == 1 else {
            EVP_PKEY_free(peer)
            return nil
        }
        return peer
    }

    deinit {
        EVP_PKEY_CTX_free(generator)
        EVP_PKEY_free(peer)
    }

    /// Makes a new pair.
    ///
    /// - Throws: `CryptoError` if the system has no random numbers or no memory.
    public func generate() throws(CryptoError) -> P256KeyPair {
        ERR_clear_error()
        var key: OpaquePointer?
        guard EVP_PKEY_generate(generator, &key) == 1, let key else {
            throw OpenSSLErrors.failure(of: "EVP_PKEY_generate")
        }
        return try P256KeyPair(owning: key)
    }

    /// Computes the secret that a pair shares with a peer.
    ///
    /// - Parameters:
    ///   - pair: our pair.
    ///   - point: the peer's public half: 65 bytes, 04, then x and y.
    ///   - secret: set to the 32 bytes of the secret; the array is reused if it has that length.
    /// - Throws: `CryptoError` with `keyInvalid` if the point has another length or form, or is not on the curve.
    public func agree(
        _ pair: P256KeyPair, with point: [UInt8], into secret: inout [UInt8]
    ) throws(CryptoError) {
        try P256.requireForm(ofPoint: point)
        ERR_clear_error()
        // This checks that the point lies on the curve.
        guard EVP_PKEY_set1_encoded_public_key(peer, point, point.count) == 1 else { throw P256.notOnCurve() }
        guard let context = EVP_PKEY_CTX_new_from_pkey(nil, pair.pointer, nil) else {
            throw OpenSSLErrors.failure(of: "EVP_PKEY_CTX_new_from_pkey")
        }
        defer { EVP_PKEY_CTX_free(context) }
        if secret.count != Self.secretBytes { secret = [UInt8](repeating: 0, count: Self.secretBytes) }
        var length = Self.secretBytes
        // Without OpenSSL's own check of the peer, which multiplies the point by the curve's order and so doubles the
        // time. P-256 has the cofactor 1: each point on it but the one at infinity, which has another form, has that
        // order (SP 800-56A section 5.6.2.3).
        guard EVP_PKEY_derive_init(context) == 1, EVP_PKEY_derive_set_peer_ex(context, peer, 0) == 1,
            EVP_PKEY_derive(context, &secret, &length) == 1, length == Self.secretBytes
        else { throw OpenSSLErrors.failure(of: "EVP_PKEY_derive") }
    }
}
