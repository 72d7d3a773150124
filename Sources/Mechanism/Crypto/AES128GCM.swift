import COpenSSL

/// Authenticated encryption with AES-128 in Galois/Counter Mode (NIST SP 800-38D), without associated data.
///
/// It keeps one context for all messages, and belongs to one thread. A nonce must never be used twice with one key.
public final class AES128GCM {
    /// The length of a key.
    public static let keyBytes = 16
    /// The length of a nonce.
    public static let nonceBytes = 12
    /// The length of the tag that follows the ciphertext.
    public static let tagBytes = 16

    private let context: OpaquePointer

    /// Creates it.
    ///
    /// - Throws: `CryptoError` if OpenSSL has no memory left.
    public init() throws(CryptoError) {
        ERR_clear_error()
        guard let cipher = EVP_CIPHER_fetch(nil, "AES-128-GCM", nil) else {
            throw OpenSSLErrors.failure(of: "EVP_CIPHER_fetch")
        }
        // The context keeps the cipher.
        defer { EVP_CIPHER_free(cipher) }
        guard let context = EVP_CIPHER_CTX_new() else { throw OpenSSLErrors.failure(of: "EVP_CIPHER_CTX_new") }
        guard EVP_CipherInit_ex2(context, cipher, nil, nil, 1, nil) == 1 else {
            EVP_CIPHER_CTX_free(context)
            throw OpenSSLErrors.failure(of: "EVP_CipherInit_ex2")
        }
        self.context = context
    }

    deinit { EVP_CIPHER_CTX_free(context) }

    /// Encrypts the end of a message where it lies, and appends the tag.
    ///
    /// - Parameters:
    ///   - message: gets 16 bytes longer; reserve them to spare a copy.
    ///   - start: the index of the first byte to encrypt; the bytes before it stay, and are not authenticated.
    ///   - key: 16 bytes, a secret.
    ///   - nonce: 12 bytes that were never used with this key.
    /// - Throws: `CryptoError` if OpenSSL has no memory left.
    public func seal(
        _ message: inout [UInt8], from start: Int, key: [UInt8], nonce: [UInt8]
    ) throws(CryptoError) {
        requireLengths(of: message, from: start, key: key, nonce: nonce)
        ERR_clear_error()
        let end = message.count
        for _ in 0..<Self.tagBytes { message.append(0) }
        let isSealed = message.withUnsafeMutableBytes { bytes in
            guard begin(1, key: key, nonce: nonce), transform(bytes[start..<end]) else { return false }
            return EVP_CIPHER_CTX_ctrl(
                context, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagBytes), bytes.baseAddress.map { $0 + end }) == 1
        }
        guard isSealed else { throw OpenSSLErrors.failure(of: "EVP_EncryptUpdate") }
    }

    /// Decrypts what `seal` made of the end of a message where it lies, and removes the tag.
    ///
    /// - Parameters:
    ///   - message: gets 16 bytes shorter; of no meaning if the answer is false.
    ///   - start: the index of the first encrypted byte.
    ///   - key: 16 bytes, a secret.
    ///   - nonce: 12 bytes.
    /// - Returns: false if the message is too short, was changed, or was encrypted with another key or nonce.
    public func open(_ message: inout [UInt8], from start: Int, key: [UInt8], nonce: [UInt8]) -> Bool {
        requireLengths(of: message, from: start, key: key, nonce: nonce)
        let end = message.count - Self.tagBytes
        guard end >= start else { return false }
        defer { ERR_clear_error() }
        let isOpened = message.withUnsafeMutableBytes { bytes in
            guard begin(0, key: key, nonce: nonce),
                EVP_CIPHER_CTX_ctrl(
                    context, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagBytes), bytes.baseAddress.map { $0 + end }) == 1
            else { return false }
            return transform(bytes[start..<end])
        }
        message.removeLast(Self.tagBytes)
        return isOpened
    }

    private func requireLengths(of message: [UInt8], from start: Int, key: [UInt8], nonce: [UInt8]) {
        precondition(message.indices.contains(start) || start == message.count, "the start lies in the message")
        precondition(key.count == Self.keyBytes && nonce.count == Self.nonceBytes, "a key and a nonce of AES-128-GCM")
    }

    private func begin(_ encrypts: Int32, key: [UInt8], nonce: [UInt8]) -> Bool {
        EVP_CipherInit_ex2(context, nil, key, nonce, encrypts, nil) == 1
    }

    /// Encrypts or decrypts bytes where they lie; when it decrypts, it checks the tag.
    private func transform(_ slice: Slice<UnsafeMutableRawBufferPointer>) -> Bool {
        let bytes = UnsafeMutableRawBufferPointer(rebasing: slice)
        let start = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
        guard let length = Int32(exactly: bytes.count) else { return false }
        var written: Int32 = 0
        // An update without bytes would mean something else.
        guard length == 0 || EVP_CipherUpdate(context, start, &written, start, length) == 1 else { return false }
        // GCM has no last block, so nothing is written here.
        var nothing: UInt8 = 0
        return EVP_CipherFinal_ex(context, &nothing, &written) == 1
    }
}
