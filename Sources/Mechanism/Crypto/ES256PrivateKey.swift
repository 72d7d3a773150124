import COpenSSL

/// A P-256 key that signs as JSON Web Tokens do (ES256, RFC 7518 section 3.4); APNs' provider tokens use it.
///
/// unchecked because the key is only read after `init`, which OpenSSL allows on several threads at once.
public final class ES256PrivateKey: @unchecked Sendable {
    private static let curve = "prime256v1"

    /// The public half as PEM text, for verification.
    public let publicKeyPEM: String
    /// The public half as an uncompressed point (SEC 1 section 2.3.3): 65 bytes, 04, then x and y.
    public let publicPoint: [UInt8]
    /// The key itself as PEM text (PKCS#8), as Apple's .p8 files are; a secret.
    public let pem: String

    private let pointer: OpaquePointer

    /// Takes over a key, also when it throws.
    private init(owning key: OpaquePointer) throws(CryptoError) {
        do throws(CryptoError) {
            try Self.requireP256(key)
            publicKeyPEM = try PEM.text { PEM_write_bio_PUBKEY($0, key) }
            pem = try PEM.text { PEM_write_bio_PKCS8PrivateKey($0, key, nil, nil, 0, nil, nil) }
            publicPoint = try P256.point(of: key)
        } catch {
            EVP_PKEY_free(key)
            throw error
        }
        pointer = key
    }

    /// Reads a key from PEM text: PKCS#8, as Apple's .p8 files are, or the older `EC PRIVATE KEY`.
    ///
    /// - Parameter bytes: the content of the file.
    /// - Throws: `CryptoError` with `keyMissing` if there is no key in the text, `keyInvalid` if it is damaged,
    ///   encrypted, of another kind (RSA) or on another curve.
    public convenience init(pem bytes: [UInt8]) throws(CryptoError) {
        try self.init(owning: try PEM.privateKey(bytes))
    }

    /// Creates a key from its scalar; the public half is computed.
    ///
    /// - Parameter scalar: 32 bytes, the highest first.
    /// - Throws: `CryptoError` with `keyInvalid` if it has another length, is 0, or is not below the curve's order.
    public convenience init(rawScalar scalar: [UInt8]) throws(CryptoError) {
        try self.init(owning: try P256.privateKey(scalar: scalar))
    }

    deinit { EVP_PKEY_free(pointer) }

    /// The key itself as 32 bytes, the highest first; a secret.
    ///
    /// - Throws: `CryptoError` if OpenSSL has no memory left.
    public var rawScalar: [UInt8] {
        get throws(CryptoError) { try P256.scalar(of: pointer) }
    }

    /// Makes a new key.
    ///
    /// - Returns: a new random key.
    /// - Throws: `CryptoError` if the system has no random numbers or no memory.
    public static func generate() throws(CryptoError) -> ES256PrivateKey {
        ERR_clear_error()
        guard let key = copenssl_generate_p256_key() else { throw OpenSSLErrors.failure(of: "EVP_EC_gen") }
        return try ES256PrivateKey(owning: key)
    }

    /// Signs the SHA-256 digest of a message.
    ///
    /// - Parameter message: any bytes.
    /// - Returns: 64 bytes: r, then s, each 32 bytes with the highest first, as JSON Web Signatures want them.
    /// - Throws: `CryptoError` if OpenSSL has no memory left.
    public func sign(_ message: [UInt8]) throws(CryptoError) -> [UInt8] {
        let encoded = try DigestSignature.make(of: message, by: pointer)
        // OpenSSL answers in DER; tokens carry the bare numbers.
        let decoded = encoded.withUnsafeBufferPointer { bytes in
            var start = bytes.baseAddress
            return d2i_ECDSA_SIG(nil, &start, bytes.count)
        }
        guard let decoded else { throw OpenSSLErrors.failure(of: "d2i_ECDSA_SIG") }
        defer { ECDSA_SIG_free(decoded) }
        var signature = [UInt8](repeating: 0, count: 64)
        let isWritten = signature.withUnsafeMutableBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return false }
            return BN_bn2binpad(ECDSA_SIG_get0_r(decoded), start, 32) == 32
                && BN_bn2binpad(ECDSA_SIG_get0_s(decoded), start + 32, 32) == 32
        }
        guard isWritten else { throw OpenSSLErrors.failure(of: "BN_bn2binpad") }
        return signature
    }

    /// Refuses keys that cannot sign or verify ES256.
    static func requireP256(_ key: OpaquePointer) throws(CryptoError) {
        guard EVP_PKEY_get_base_id(key) == EVP_PKEY_EC else {
            let kind = EVP_PKEY_get0_type_name(key).map { String(cString: $0) } ?? "another"
            throw CryptoError(.keyInvalid, "the key is of kind \(kind); ES256 needs an elliptic-curve key on P-256")
        }
        var name = [CChar](repeating: 0, count: 64)
        var length = 0
        guard EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1 else {
            throw CryptoError(.keyInvalid, "the key's curve has no name; ES256 needs a key on P-256")
        }
        let curve = String(decoding: name.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard curve == Self.curve else {
            throw CryptoError(
                .keyInvalid,
                "the key is on the curve \(curve); ES256 needs a key on P-256 (\(Self.curve))"
            )
        }
    }
}
