import Crypto
import EncryptedContent
import Essentials
import Testing

/// A message encrypted step by step as RFC 8291 section 3.4 and RFC 8188 section 2 write it, to compare with.
///
/// Every part can be chosen, also against the rules.
struct NaiveMessage {
    let sender: P256KeyPair
    let salt: [UInt8]
    /// The two keys on the way, and what the record is encrypted with.
    let combinedKey, inputKey, pseudorandomKey, contentKey, nonce: [UInt8]

    /// - Parameters:
    ///   - recipient: the public side.
    ///   - sender: the key pair of the message; nil for a new one.
    ///   - salt: 16 bytes; nil for new ones.
    /// - Throws: an error of the cryptography.
    init(to recipient: RecipientKeys, from sender: P256KeyPair? = nil, salt: [UInt8]? = nil) throws {
        let sender = try sender ?? .generate()
        let salt = try salt ?? RandomBytes.make(count: 16)
        var secret: [UInt8] = []
        try P256KeyAgreement().agree(sender, with: recipient.publicPoint, into: &secret)
        self.sender = sender
        self.salt = salt
        combinedKey = MessageAuthentication.code(of: secret, key: recipient.authenticationSecret)
        let info = Array("WebPush: info".utf8) + [0] + recipient.publicPoint + sender.publicPoint
        inputKey = MessageAuthentication.code(of: info + [1], key: combinedKey)
        pseudorandomKey = MessageAuthentication.code(of: inputKey, key: salt)
        let contentInfo = Array("Content-Encoding: aes128gcm".utf8) + [0, 1]
        contentKey = Array(MessageAuthentication.code(of: contentInfo, key: pseudorandomKey)[..<16])
        let nonceInfo = Array("Content-Encoding: nonce".utf8) + [0, 1]
        nonce = Array(MessageAuthentication.code(of: nonceInfo, key: pseudorandomKey)[..<12])
    }

    /// The body with a record.
    ///
    /// - Parameters:
    ///   - content: the bytes to encrypt: the plaintext, the delimiter, the padding.
    ///   - recordBytes: the record size that the header says.
    ///   - identifier: the key identifier; nil for the sender's public key.
    /// - Returns: the header and the record.
    /// - Throws: an error of the cryptography.
    func body(content: [UInt8], recordBytes: UInt32 = 4_096, identifier: [UInt8]? = nil) throws -> [UInt8] {
        let size = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: recordBytes >> UInt32($0)) }
        let identifier = identifier ?? sender.publicPoint
        var record = content
        try AES128GCM().seal(&record, from: 0, key: contentKey, nonce: nonce)
        return salt + size + [UInt8(truncatingIfNeeded: identifier.count)] + identifier + record
    }
}

/// The values of RFC 8291 section 5 and appendix A.
enum PublishedMessage {
    static let plaintext = Array("When I grow up, I want to be a watermelon".utf8)
    static let body = """
        DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK\
        6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN
        """

    static func sender() throws -> P256KeyPair {
        try P256KeyPair(rawScalar: decode("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"))
    }

    static func recipient() throws -> RecipientKeyPair {
        try RecipientKeyPair(
            keyPair: P256KeyPair(rawScalar: decode("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94")),
            authenticationSecret: decode("BTBZMqHH6r4Tts7J_aSIgg"))
    }

    static func salt() throws -> [UInt8] { try decode("DGv6ra1nlYgDCS1FRnbzlw") }

    static func decode(_ text: String) throws -> [UInt8] { try #require(Base64URL.decode(text)) }
}
