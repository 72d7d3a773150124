import COpenSSL

/// The public half of an RSA key, to verify RS256 signatures (RFC 7518 section 3.3).
///
/// unchecked because the key is only read after `init`, which OpenSSL allows on several threads at once.
public final class RS256PublicKey: @unchecked Sendable {
    private let pointer: OpaquePointer

    /// Reads a key from PEM text (`BEGIN PUBLIC KEY`).
    ///
    /// - Parameter bytes: the content of the file.
    /// - Throws: `CryptoError` with `keyMissing` if there is no key in the text, `keyInvalid` if it is damaged, of
    ///   another kind, shorter than 2 048 bits or longer than 8 192.
    public init(pem bytes: [UInt8]) throws(CryptoError) {
        let key = try PEM.publicKey(bytes)
        do throws(CryptoError) {
            try RS256PrivateKey.requireRSA(key)
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
    ///   - signature: as many bytes as the key has; anything else is not valid.
    ///   - message: the bytes that were signed.
    /// - Returns: true only for a signature of this key over this message.
    public func isValid(signature: [UInt8], of message: [UInt8]) -> Bool {
        DigestSignature.isValid(signature, of: message, by: pointer)
    }
}
