import COpenSSL

/// Signatures over the SHA-256 digest of a message, in the form that OpenSSL gives them for the kind of key.
enum DigestSignature {
    /// The signature of a message.
    ///
    /// - Throws: `CryptoError` if OpenSSL has no memory left, or the key is damaged.
    static func make(of message: [UInt8], by key: OpaquePointer) throws(CryptoError) -> [UInt8] {
        ERR_clear_error()
        guard let context = EVP_MD_CTX_new() else { throw OpenSSLErrors.failure(of: "EVP_MD_CTX_new") }
        defer { EVP_MD_CTX_free(context) }
        // The longest signature that the key makes: those of ECDSA differ in length.
        var signature = [UInt8](repeating: 0, count: Int(EVP_PKEY_get_size(key)))
        var length = signature.count
        guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1,
            EVP_DigestSign(context, &signature, &length, message, message.count) == 1
        else { throw OpenSSLErrors.failure(of: "EVP_DigestSign") }
        signature.removeLast(signature.count - length)
        return signature
    }

    /// Whether the holder of the private half signed exactly this message.
    static func isValid(_ signature: [UInt8], of message: [UInt8], by key: OpaquePointer) -> Bool {
        defer { ERR_clear_error() }
        guard let context = EVP_MD_CTX_new() else { return false }
        defer { EVP_MD_CTX_free(context) }
        return EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1
            && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }
}
