internal import Crypto

/// Decrypts messages as a recipient does (RFC 8291, with the content coding `aes128gcm` of RFC 8188), and refuses all
/// that breaks a rule for senders.
///
/// A decryptor keeps OpenSSL's contexts for all of its messages and belongs to one thread.
public final class MessageDecryptor {
    private let keys: ContentKeys
    private let cipher: AES128GCM

    /// Creates a decryptor.
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

    /// Decrypts a message.
    ///
    /// Of a body that is accepted, only the four bytes of the record size are not authenticated: no key depends on
    /// them (RFC 8188 section 2.2).
    ///
    /// - Parameters:
    ///   - body: the body of a request, of any length.
    ///   - recipient: the keys of the browser that reads it.
    /// - Returns: the plaintext, without its padding.
    /// - Throws: `EncryptedContentError` with the rule that the body breaks: `headerInvalid`, `senderInvalid`,
    ///   `recordInvalid`, `authenticationFailed` or `paddingInvalid`.
    public func decrypt(
        _ body: [UInt8], for recipient: RecipientKeyPair
    ) throws(EncryptedContentError) -> [UInt8] {
        let header = try ContentHeader(of: body)
        var record = Array(body[ContentHeader.byteCount...])
        try Self.requireOneRecord(of: record.count, header: header)
        do throws(CryptoError) {
            try keys.derive(senderPoint: header.senderPoint, recipient: recipient, salt: header.salt)
        } catch {
            throw EncryptedContentError(error, key: .senderInvalid)
        }
        guard cipher.open(&record, from: 0, key: keys.contentKey, nonce: keys.nonce) else {
            throw EncryptedContentError(
                .authenticationFailed, "the record was changed, or encrypted with other keys (RFC 8188 section 2)")
        }
        try Self.removePadding(from: &record)
        return record
    }

    private static func requireOneRecord(of byteCount: Int, header: ContentHeader) throws(EncryptedContentError) {
        // A record of the full size would be followed by another one.
        guard byteCount < Int(header.recordBytes) else {
            throw EncryptedContentError(
                .recordInvalid,
                "\(byteCount) bytes follow the header; a single record is shorter than the record size, which is "
                    + "\(header.recordBytes) (RFC 8291 section 4)")
        }
        guard byteCount > AES128GCM.tagBytes else {
            throw EncryptedContentError(
                .recordInvalid,
                "\(byteCount) bytes follow the header; a record has a tag of \(AES128GCM.tagBytes) and at least a "
                    + "delimiter (RFC 8188 section 2)")
        }
    }

    /// Removes the delimiter and the zeros behind it.
    private static func removePadding(from content: inout [UInt8]) throws(EncryptedContentError) {
        guard let end = content.lastIndex(where: { $0 != 0 }) else {
            throw EncryptedContentError(
                .paddingInvalid, "the record holds zeros only, and no delimiter (RFC 8188 section 2)")
        }
        guard content[end] == MessageEncryptor.lastRecordDelimiter else {
            throw EncryptedContentError(
                .paddingInvalid,
                "the record ends with the delimiter \(content[end]); that of the last and only record is "
                    + "\(MessageEncryptor.lastRecordDelimiter) (RFC 8188 section 2)")
        }
        content.removeLast(content.count - end)
    }
}
