import COpenSSL

/// The public half of a P-256 key, to verify ES256 signatures (RFC 7518 section 3.4).
///
/// unchecked because the key is only read after `init`, which OpenSSL allows on several threads at once.
public final class ES256PublicKey: @unchecked Sendable {
    private let pointer: OpaquePointer

    /// Takes over a key, also when it throws.
    private init(owning key: OpaquePointer) throws(CryptoError) {
        do throws(CryptoError) {
            try ES256PrivateKey.requireP256(key)
        } catch {
            EVP_PKEY_free(key)
            throw error
        }
        pointer = key
    }

    /// Reads a key from PEM text (`BEGIN PUBLIC KEY`).
    ///
    /// - Parameter bytes: the content of the file.
    /// - Throws: `CryptoError` with `keyMissing` if there is no key in the text, `keyInvalid` if it is damaged or of
    ///   another kind.
    public convenience init(pem bytes: [UInt8]) throws(CryptoError) {
        try self.init(owning: try PEM.publicKey(bytes))
    }

    /// Creates a key from its point on the curve.
    ///
    /// - Parameter point: 65 bytes: 04, then x and y, each 32 bytes with the highest first (SEC 1 section 2.3.3,
    ///   uncompressed).
    /// - Throws: `CryptoError` with `keyInvalid` if it has another length or form, or is not on the curve.
    public convenience init(point: [UInt8]) throws(CryptoError) {
        try self.init(owning: try P256.publicKey(point: point))
    }

    deinit { EVP_PKEY_free(pointer) }

    /// Whether the holder of the private half signed exactly this message.
    ///
    /// - Parameters:
    ///   - signature: 64 bytes, r and s; anything else is not valid.
    ///   - message: the bytes that were signed.
    /// - Returns: true only for a signature of this key over this message.
    public func isValid(signature: [UInt8], of message: [UInt8]) -> Bool {
        guard signature.count == 64, let parsed = ECDSA_SIG_new() else { return false }
        defer {
            ECDSA_SIG_free(parsed)
            ERR_clear_error()
        }
        let first = BN_bin2bn(Array(signature[..<32]), 32, nil)
        let second = BN_bin2bn(Array(signature[32...]), 32, nil)
        // On success the signature owns both numbers.
        guard let first, let second, ECDSA_SIG_set0(parsed, first, second) == 1 else {
            BN_free(first)
            BN_free(second)
            return false
        }
        var encoded: UnsafeMutablePointer<UInt8>?
        let length = i2d_ECDSA_SIG(parsed, &encoded)
        defer { CRYPTO_free(encoded, #file, #line) }
        guard length > 0, let encoded else { return false }
        return isValid(signatureInDER: Array(UnsafeBufferPointer(start: encoded, count: Int(length))), of: message)
    }

    /// Whether the holder of the private half signed exactly this message, with the signature in ASN.1 (RFC 3279,
    /// section 2.2.3), as OpenSSL, Java and Apple's Security framework make it.
    ///
    /// - Parameters:
    ///   - signature: the sequence of r and s in DER, and nothing behind it.
    ///   - message: the bytes that were signed.
    /// - Returns: true only for a signature of this key over this message.
    public func isValid(signatureInDER signature: [UInt8], of message: [UInt8]) -> Bool {
        DigestSignature.isValid(signature, of: message, by: pointer)
    }
}
