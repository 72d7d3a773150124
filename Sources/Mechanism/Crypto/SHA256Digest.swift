import COpenSSL

/// The SHA-256 hash function (FIPS 180-4).
public enum SHA256Digest {
    /// The 32 bytes of the digest of a message.
    public static func digest(_ message: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        SHA256(message, message.count, &digest)
        return digest
    }
}

/// HMAC with SHA-256 (RFC 2104, FIPS 198-1), and the comparison that goes with it.
public enum MessageAuthentication {
    /// The 32 bytes of the authentication code of a message.
    ///
    /// - Parameters:
    ///   - message: the message to authenticate.
    ///   - key: the secret, of any length.
    /// - Returns: the code.
    public static func code(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        var length: UInt32 = 0
        let isMade =
            HMAC(EVP_sha256(), key, Int32(clamping: key.count), message, message.count, &code, &length) != nil
        precondition(isMade && length == UInt32(code.count), "HMAC needs nothing that a process could run out of")
        return code
    }

    /// Whether two texts of bytes are the same, in a time that depends on their lengths only.
    public static func isEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }
}
