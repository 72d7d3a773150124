internal import Crypto

/// Derives the key and the nonce of a message from both parties' keys (RFC 8291 section 3.4, RFC 8188 section 2.2).
///
/// Both parties come to the same values. The arrays and contexts serve all messages, so a derivation allocates nothing.
final class ContentKeys {
    private static let keyInfoLabel = Array("WebPush: info\0".utf8)
    private static let contentKeyInfo = Array("Content-Encoding: aes128gcm\0".utf8)
    private static let nonceInfo = Array("Content-Encoding: nonce\0".utf8)

    /// The key for the content of the present message: 16 bytes.
    private(set) var contentKey = [UInt8](repeating: 0, count: AES128GCM.keyBytes)
    /// The nonce of its only record: 12 bytes, in which the record's number, 0, changes nothing.
    private(set) var nonce = [UInt8](repeating: 0, count: AES128GCM.nonceBytes)

    /// Makes the key pairs of messages, too.
    let agreement: P256KeyAgreement
    private let derivation: HKDF
    private var sharedSecret = [UInt8](repeating: 0, count: P256KeyAgreement.secretBytes)
    private var inputKey = [UInt8](repeating: 0, count: 32)
    private var keyInfo = keyInfoLabel

    init() throws(CryptoError) {
        agreement = try P256KeyAgreement()
        derivation = try HKDF()
    }

    /// Sets the key and the nonce for the sender of a message.
    func derive(
        sender: P256KeyPair, recipient: RecipientKeys, salt: [UInt8]
    ) throws(CryptoError) {
        try agreement.agree(sender, with: recipient.publicPoint, into: &sharedSecret)
        try derive(senderPoint: sender.publicPoint, recipient: recipient, salt: salt)
    }

    /// Sets the key and the nonce for the recipient of a message.
    func derive(
        senderPoint: [UInt8], recipient: RecipientKeyPair, salt: [UInt8]
    ) throws(CryptoError) {
        try agreement.agree(recipient.keyPair, with: senderPoint, into: &sharedSecret)
        try derive(senderPoint: senderPoint, recipient: recipient.publicKeys, salt: salt)
    }

    private func derive(
        senderPoint: [UInt8], recipient: RecipientKeys, salt: [UInt8]
    ) throws(CryptoError) {
        keyInfo.removeLast(keyInfo.count - Self.keyInfoLabel.count)
        keyInfo += recipient.publicPoint
        keyInfo += senderPoint
        try derivation.extract(sharedSecret, salt: recipient.authenticationSecret)
        try derivation.expand(into: &inputKey, info: keyInfo)
        try derivation.extract(inputKey, salt: salt)
        try derivation.expand(into: &contentKey, info: Self.contentKeyInfo)
        try derivation.expand(into: &nonce, info: Self.nonceInfo)
    }
}
