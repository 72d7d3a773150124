import COpenSSL

/// The key derivation function HKDF with SHA-256 (RFC 5869).
///
/// It keeps one context for all of its HMACs, and belongs to one thread. `extract` comes first; then each `expand`
/// derives from that key.
public final class HKDF {
    /// The most bytes that one `expand` gives (RFC 5869 section 2.3).
    public static let outputBytesMaximum = 255 * digestBytes

    private static let digestBytes = Int(SHA256_DIGEST_LENGTH)

    private let context: OpaquePointer
    /// The pseudorandom key while it moves into the context, and the blocks of longer outputs.
    private var block = [UInt8](repeating: 0, count: digestBytes)
    private var hasKey = false

    /// Creates it.
    ///
    /// - Throws: `CryptoError` if OpenSSL has no memory left.
    public init() throws(CryptoError) {
        ERR_clear_error()
        guard let context = copenssl_new_hmac_context() else { throw OpenSSLErrors.failure(of: "EVP_MAC_CTX_new") }
        self.context = context
    }

    deinit { EVP_MAC_CTX_free(context) }

    /// Concentrates key material into the key of the following `expand`s (RFC 5869 section 2.2).
    ///
    /// - Parameters:
    ///   - keyMaterial: the secret, of any length.
    ///   - salt: not a secret, of any length; an empty one means 32 zero bytes, as the RFC says.
    /// - Throws: `CryptoError` if OpenSSL has no memory left.
    public func extract(_ keyMaterial: [UInt8], salt: [UInt8]) throws(CryptoError) {
        ERR_clear_error()
        hasKey = false
        // HMAC pads its key with zeros, so one zero is as good as 32; OpenSSL takes no key for "the same as before".
        let isStarted =
            salt.isEmpty ? EVP_MAC_init(context, [0], 1, nil) : EVP_MAC_init(context, salt, salt.count, nil)
        guard isStarted == 1, EVP_MAC_update(context, keyMaterial, keyMaterial.count) == 1,
            finishBlock(), EVP_MAC_init(context, block, block.count, nil) == 1
        else { throw OpenSSLErrors.failure(of: "EVP_MAC_init") }
        hasKey = true
    }

    /// Derives bytes from the key that `extract` made (RFC 5869 section 2.3).
    ///
    /// - Parameters:
    ///   - output: filled to its end, at most 8 160 bytes; its length is the length that is derived.
    ///   - info: the purpose of the bytes, without the counter that ends the RFC's input.
    /// - Throws: `CryptoError` if OpenSSL has no memory left.
    public func expand(into output: inout [UInt8], info: [UInt8]) throws(CryptoError) {
        precondition(hasKey, "extract() comes first")
        precondition(output.count <= Self.outputBytesMaximum, "HKDF derives at most \(Self.outputBytesMaximum) bytes")
        ERR_clear_error()
        var counter: UInt8 = 0
        var filled = 0
        while filled < output.count {
            counter += 1
            guard EVP_MAC_init(context, nil, 0, nil) == 1,
                counter == 1 || EVP_MAC_update(context, block, block.count) == 1,
                EVP_MAC_update(context, info, info.count) == 1, EVP_MAC_update(context, &counter, 1) == 1,
                finishBlock()
            else { throw OpenSSLErrors.failure(of: "EVP_MAC_update") }
            let taken = min(block.count, output.count - filled)
            output.replaceSubrange(filled..<(filled + taken), with: block[..<taken])
            filled += taken
        }
    }

    private func finishBlock() -> Bool {
        var length = 0
        return EVP_MAC_final(context, &block, &length, block.count) == 1 && length == block.count
    }
}
