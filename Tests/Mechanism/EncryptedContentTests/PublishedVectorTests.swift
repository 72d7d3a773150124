import Crypto
import Essentials
import Testing

@testable import EncryptedContent

@Suite("The example of RFC 8291")
struct PublishedVectorTests {
    @Test("The keys on the way are those of appendix A")
    func intermediateValues() throws {
        let recipient = try PublishedMessage.recipient().publicKeys
        let message = try NaiveMessage(to: recipient, from: PublishedMessage.sender(), salt: PublishedMessage.salt())
        let expected = [
            (message.combinedKey, "Snr3JMxaHVDXHWJn5wdC52WjpCtd2EIEGBykDcZW32k"),
            (message.inputKey, "S4lYMb_L0FxCeq0WhDx813KgSYqU26kOyzWUdsXYyrg"),
            (message.pseudorandomKey, "09_eUZGrsvxChDCGRCdkLiDXrReGOEVeSCdCcPBSJSc"),
            (message.contentKey, "oIhVW04MRdy2XN9CiKLxTg"), (message.nonce, "4h_95klXJ5E_qnoN"),
        ]
        for (value, text) in expected { #expect(Base64URL.encode(value) == text) }
        let keys = try ContentKeys()
        try keys.derive(sender: PublishedMessage.sender(), recipient: recipient, salt: PublishedMessage.salt())
        #expect(keys.contentKey == message.contentKey)
        #expect(keys.nonce == message.nonce)
        try keys.derive(
            senderPoint: PublishedMessage.sender().publicPoint, recipient: PublishedMessage.recipient(),
            salt: PublishedMessage.salt())
        #expect(keys.contentKey == message.contentKey)
        #expect(keys.nonce == message.nonce)
    }

    @Test("The encryptor writes the published body, also after other messages")
    func encryption() throws {
        let encryptor = try MessageEncryptor()
        let recipient = try PublishedMessage.recipient().publicKeys
        for _ in 0..<3 {
            let body = try encryptor.encrypt(
                PublishedMessage.plaintext, for: recipient, sender: PublishedMessage.sender(),
                salt: PublishedMessage.salt())
            #expect(Base64URL.encode(body) == PublishedMessage.body)
            _ = try encryptor.encrypt([1, 2, 3], for: RecipientKeyPair.generate().publicKeys)
        }
    }

    @Test("The decryptor reads the published body")
    func decryption() throws {
        let body = try PublishedMessage.decode(PublishedMessage.body)
        let recipient = try PublishedMessage.recipient()
        #expect(try MessageDecryptor().decrypt(body, for: recipient) == PublishedMessage.plaintext)
        let header = try ContentHeader(of: body)
        #expect(header.recordBytes == 4_096)
        #expect(try header.salt == PublishedMessage.salt())
        #expect(try header.senderPoint == PublishedMessage.sender().publicPoint)
    }
}
