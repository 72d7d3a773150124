import COpenSSL

/// The public half of a P-256 key, to verify ES256 signatures (RFC 7518 section 3.4).
///
/// unchecked because the key is only read after `init`, which OpenSSL allows on several threads at once.
public final class ES256PublicKey: @unchecked Sendable {
    private let pointer: OpaquePointer

    /// Reads a key from PEM text (`BEGIN PUBLIC KEY`).
    ///
    /// - Parameter bytes: the content of the file.
    /// - Throws: `CryptoError` with `keyMissing` if there is no key in the text, `keyInvalid` if it is damaged or of
    ///   another kind.
    public init(pem bytes: [UInt8]) throws(CryptoError) {
        ERR_clear_error()
        let key = try PEM.withReader(bytes) { reader in PEM_read_bio_PUBKEY(reader, nil, { _, _, _, _ in 0 }, nil) }
        guard let key else {
            let reasons = OpenSSLErrors.take()
            throw CryptoError(
                PEM.hasBlock("PUBLIC KEY", in: String(decoding: bytes, as: UTF8.self)) ? .keyInvalid : .keyMissing,
                "no usable public key in the text (\(reasons)); it needs a '-----BEGIN PUBLIC KEY-----' block"
            )
        }
        do throws(CryptoError) {
            try ES256PrivateKey.requireP256(key)
        } catch {
            EVP_PKEY_free(key)
            throw error
        }
        pointer = key
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
        defer { ERR_clear_error() }
        guard let context = EVP_MD_CTX_new() else { return false }
        defer { EVP_MD_CTX_free(context) }
        return EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, pointer) == 1
            && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }
}
