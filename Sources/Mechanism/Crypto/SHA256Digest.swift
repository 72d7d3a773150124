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
