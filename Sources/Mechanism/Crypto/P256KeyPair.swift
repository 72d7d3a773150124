import COpenSSL

/// A P-256 key pair for key agreement (ECDH), mostly one for a single message.
///
/// unchecked because the key is only read after `init`, which OpenSSL allows on several threads at once.
public final class P256KeyPair: @unchecked Sendable {
    /// The length of a public half: 04, then x and y (SEC 1 section 2.3.3, uncompressed).
    public static let publicPointBytes = P256.pointBytes

    /// The public half as an uncompressed point: 65 bytes.
    public let publicPoint: [UInt8]

    let pointer: OpaquePointer

    /// Takes over a key, also when it throws.
    init(owning key: OpaquePointer) throws(CryptoError) {
        do throws(CryptoError) {
            publicPoint = try P256.point(of: key)
        } catch {
            EVP_PKEY_free(key)
            throw error
        }
        pointer = key
    }

    /// Creates the pair of a scalar; the public half is computed.
    ///
    /// - Parameter scalar: 32 bytes, the highest first.
    /// - Throws: `CryptoError` with `keyInvalid` if it has another length, is 0, or is not below the curve's order.
    public convenience init(rawScalar scalar: [UInt8]) throws(CryptoError) {
        try self.init(owning: try P256.privateKey(scalar: scalar))
    }

    deinit { EVP_PKEY_free(pointer) }

    /// Makes a new pair; `P256KeyAgreement.generate` makes many in less time.
    ///
    /// - Throws: `CryptoError` if the system has no random numbers or no memory.
    public static func generate() throws(CryptoError) -> P256KeyPair {
        ERR_clear_error()
        guard let key = copenssl_generate_p256_key() else { throw OpenSSLErrors.failure(of: "EVP_EC_gen") }
        return try P256KeyPair(owning: key)
    }

    /// The private half as 32 bytes, the highest first; a secret.
    ///
    /// - Throws: `CryptoError` if OpenSSL has no memory left.
    public var rawScalar: [UInt8] {
        get throws(CryptoError) { try P256.scalar(of: pointer) }
    }

    /// Refuses a public half that no pair could have.
    ///
    /// - Parameter point: 65 bytes: 04, then x and y.
    /// - Throws: `CryptoError` with `keyInvalid` if it has another length or form, or is not on the curve.
    public static func requireValidPoint(_ point: [UInt8]) throws(CryptoError) {
        EVP_PKEY_free(try P256.publicKey(point: point))
    }
}
