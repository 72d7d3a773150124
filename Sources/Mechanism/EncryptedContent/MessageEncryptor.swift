internal import Crypto

/// Encrypts messages for recipients (RFC 8291, with the content coding `aes128gcm` of RFC 8188).
///
/// Each message has a key pair and a salt of its own, and is one record without padding. An encryptor keeps OpenSSL's
/// contexts for all of its messages and belongs to one thread; make one for each thread.
public final class MessageEncryptor {
    /// The longest body that everybody takes (RFC 8030 section 7.2), in bytes.
    public static let bodyBytesMaximum = 4_096
    /// The longest plaintext: 3 993 bytes, which make a body of 4 096 (RFC 8291 section 4).
    public static let plaintextBytesMaximum = bodyBytesMaximum - overheadBytes

    /// How much longer a body is than its plaintext: the header (86), the delimiter (1), the tag (16).
    static let overheadBytes = ContentHeader.byteCount + 1 + AES128GCM.tagBytes
    /// The record size in each header, which is greater than the longest record: 4 010 bytes (RFC 8291 section 4).
    static let recordBytes: UInt32 = 4_096
    /// The byte between the content of the last record and its padding (RFC 8188 section 2).
    static let lastRecordDelimiter: UInt8 = 2

    private let keys: ContentKeys
    private let cipher: AES128GCM
    private var salt: [UInt8] = []

    /// Creates an encryptor.
    ///
    /// - Throws: `EncryptedContentError` with `libraryFailed` if OpenSSL has no memory left.
    public init() throws(EncryptedContentError) {
        do throws(CryptoError) {
            keys = try ContentKeys()
            cipher = try AES128GCM()
        } catch {
            throw EncryptedContentError(error, key: .libraryFailed)
        }
    }

    /// Encrypts a message with a new key pair and a new salt.
    ///
    /// Nearly all of its time goes into two multiplications on the curve: some 50 µs of a processor, so this belongs to
    /// another thread than connections do.
    ///
    /// - Parameters:
    ///   - plaintext: at most 3 993 bytes.
    ///   - recipient: the keys of the browser that reads it.
    /// - Returns: the body: 103 bytes more than the plaintext.
    /// - Throws: `EncryptedContentError` with `plaintextTooLong`, or `recipientInvalid` if the recipient's public key
    ///   is not on the curve.
    public func encrypt(
        _ plaintext: [UInt8], for recipient: RecipientKeys
    ) throws(EncryptedContentError) -> [UInt8] {
        let sender: P256KeyPair
        do throws(CryptoError) {
            salt.removeAll(keepingCapacity: true)
            try RandomBytes.append(ContentHeader.saltBytes, to: &salt)
            sender = try keys.agreement.generate()
        } catch {
            throw EncryptedContentError(error, key: .libraryFailed)
        }
        return try encrypt(plaintext, for: recipient, sender: sender, salt: salt)
    }

    /// Encrypts a message with a given key pair and salt, which are never used again: for published vectors.
    func encrypt(
        _ plaintext: [UInt8], for recipient: RecipientKeys, sender: P256KeyPair, salt: [UInt8]
    ) throws(EncryptedContentError) -> [UInt8] {
        guard plaintext.count <= Self.plaintextBytesMaximum else {
            throw EncryptedContentError(
                .plaintextTooLong,
                "the plaintext has \(plaintext.count) bytes; at most \(Self.plaintextBytesMaximum) fit into a body of "
                    + "\(Self.bodyBytesMaximum) (RFC 8291 section 4)")
        }
        var body: [UInt8] = []
        body.reserveCapacity(plaintext.count + Self.overheadBytes)
        ContentHeader.append(
            salt: salt, recordBytes: Self.recordBytes, senderPoint: sender.publicPoint, to: &body)
        body += plaintext
        body.append(Self.lastRecordDelimiter)
        do throws(CryptoError) {
            try keys.derive(sender: sender, recipient: recipient, salt: salt)
            try cipher.seal(&body, from: ContentHeader.byteCount, key: keys.contentKey, nonce: keys.nonce)
        } catch {
            throw EncryptedContentError(error, key: .recipientInvalid)
        }
        return body
    }
}
