import COpenSSL

/// An RSA key that signs as JSON Web Tokens do (RS256: RSASSA-PKCS1-v1_5 with SHA-256, RFC 7518 section 3.3).
///
/// unchecked because the key is only read after `init`, which OpenSSL allows on several threads at once.
public final class RS256PrivateKey: @unchecked Sendable {
    /// The shortest key that RFC 7518 allows, in bits.
    static let bitsMinimum: Int32 = 2_048
    /// A longer key takes seconds for a signature.
    static let bitsMaximum: Int32 = 8_192

    /// The public half as PEM text, for verification.
    public let publicKeyPEM: String
    /// The key itself as PEM text (PKCS#8); a secret.
    public let pem: String

    private let pointer: OpaquePointer

    /// Takes over a key, also when it throws.
    private init(owning key: OpaquePointer) throws(CryptoError) {
        do throws(CryptoError) {
            try Self.requireRSA(key)
            try Self.requireMatchingHalves(key)
            publicKeyPEM = try PEM.text { PEM_write_bio_PUBKEY($0, key) }
            pem = try PEM.text { PEM_write_bio_PKCS8PrivateKey($0, key, nil, nil, 0, nil, nil) }
        } catch {
            EVP_PKEY_free(key)
            throw error
        }
        pointer = key
    }

    /// Reads a key from PEM text: PKCS#8, or the older `RSA PRIVATE KEY`.
    ///
    /// - Parameter bytes: the content of the file.
    /// - Throws: `CryptoError` with `keyMissing` if there is no key in the text, `keyInvalid` if it is damaged,
    ///   encrypted, of another kind (EC), shorter than 2 048 bits or longer than 8 192.
    public convenience init(pem bytes: [UInt8]) throws(CryptoError) {
        try self.init(owning: try PEM.privateKey(bytes))
    }

    deinit { EVP_PKEY_free(pointer) }

    /// Makes a new key of 2 048 bits, which takes some tenths of a second.
    ///
    /// - Throws: `CryptoError` if the system has no random numbers or no memory.
    public static func generate() throws(CryptoError) -> RS256PrivateKey {
        ERR_clear_error()
        guard let key = copenssl_generate_rsa_key(Int(bitsMinimum)) else {
            throw OpenSSLErrors.failure(of: "EVP_RSA_gen")
        }
        return try RS256PrivateKey(owning: key)
    }

    /// Signs the SHA-256 digest of a message.
    ///
    /// - Parameter message: any bytes.
    /// - Returns: as many bytes as the key has, 256 for one of 2 048 bits.
    /// - Throws: `CryptoError` if OpenSSL has no memory left.
    public func sign(_ message: [UInt8]) throws(CryptoError) -> [UInt8] {
        try DigestSignature.make(of: message, by: pointer)
    }

    /// Refuses keys that cannot sign or verify RS256.
    static func requireRSA(_ key: OpaquePointer) throws(CryptoError) {
        guard EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA else {
            let kind = EVP_PKEY_get0_type_name(key).map { String(cString: $0) } ?? "another"
            throw CryptoError(.keyInvalid, "the key is of the kind \(kind); RS256 needs an RSA key")
        }
        let bits = EVP_PKEY_get_bits(key)
        guard (bitsMinimum...bitsMaximum).contains(bits) else {
            throw CryptoError(
                .keyInvalid, "the RSA key has \(bits) bits; RS256 needs \(bitsMinimum) to \(bitsMaximum)")
        }
    }

    /// Refuses a key whose halves do not match: OpenSSL reads it, but its public half verifies none of its signatures.
    private static func requireMatchingHalves(_ key: OpaquePointer) throws(CryptoError) {
        do throws(CryptoError) {
            if DigestSignature.isValid(try DigestSignature.make(of: [], by: key), of: [], by: key) { return }
        } catch {}
        throw CryptoError(
            .keyInvalid, "the private key is damaged (its halves do not match); download or export it again")
    }
}
