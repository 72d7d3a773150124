import Crypto
import PushTestKit
import Testing

@testable import EncryptedContent

@Suite("Messages, encrypted and decrypted")
struct MessageRoundTripTests {
    private static func bytes(_ count: Int, _ numbers: inout SeededGenerator) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 0...255, using: &numbers) }
    }

    @Test("A message of each length up to the longest is decrypted by its recipient")
    func everyLength() throws {
        var numbers = SeededGenerator(seed: 1)
        let (encryptor, decryptor) = (try MessageEncryptor(), try MessageDecryptor())
        var recipient = try RecipientKeyPair.generate()
        for length in 0...MessageEncryptor.plaintextBytesMaximum {
            if length % 10 == 0 { recipient = try .generate() }
            let plaintext = Self.bytes(length, &numbers)
            let body = try encryptor.encrypt(plaintext, for: recipient.publicKeys)
            #expect(body.count == length + 103)
            #expect(try decryptor.decrypt(body, for: recipient) == plaintext, "length \(length)")
        }
        let error = try #require(throws: EncryptedContentError.self) {
            _ = try encryptor.encrypt(Self.bytes(3_994, &numbers), for: recipient.publicKeys)
        }
        #expect(error.code == .plaintextTooLong)
        #expect(error.message.contains("3994"))
    }

    @Test("A body is what the steps of the RFCs give, one by one")
    func naiveSteps() throws {
        var numbers = SeededGenerator(seed: 2)
        let (encryptor, decryptor) = (try MessageEncryptor(), try MessageDecryptor())
        for _ in 0..<200 {
            let recipient = try RecipientKeyPair.generate()
            let plaintext = Self.bytes(.random(in: 0...3_993, using: &numbers), &numbers)
            let message = try NaiveMessage(to: recipient.publicKeys)
            let body = try encryptor.encrypt(
                plaintext, for: recipient.publicKeys, sender: message.sender, salt: message.salt)
            #expect(try body == message.body(content: plaintext + [2]))
            let padding = [UInt8](repeating: 0, count: .random(in: 0...100, using: &numbers))
            let recordBytes = UInt32(plaintext.count + padding.count + 18)
            let padded = try message.body(content: plaintext + [2] + padding, recordBytes: recordBytes)
            #expect(try decryptor.decrypt(padded, for: recipient) == plaintext)
        }
    }

    @Test("No two messages share a salt or a key of the sender, not even with the same text")
    func freshValues() throws {
        let encryptor = try MessageEncryptor()
        let recipient = try RecipientKeyPair.generate()
        var (salts, points): (Set<[UInt8]>, Set<[UInt8]>) = ([], [])
        for _ in 0..<500 {
            let header = try ContentHeader(of: encryptor.encrypt([1, 2, 3], for: recipient.publicKeys))
            #expect(header.recordBytes == 4_096)
            salts.insert(header.salt)
            points.insert(header.senderPoint)
        }
        #expect(salts.count == 500)
        #expect(points.count == 500)
    }

    @Test("A body with any byte changed is refused; only the record size is not authenticated")
    func everyChangedByte() throws {
        let (encryptor, decryptor) = (try MessageEncryptor(), try MessageDecryptor())
        let recipient = try RecipientKeyPair.generate()
        let plaintext = Array("a message of some length".utf8)
        let body = try encryptor.encrypt(plaintext, for: recipient.publicKeys)
        for index in body.indices {
            for change: UInt8 in [0x01, 0x80, 0xFF] {
                var changed = body
                changed[index] ^= change
                let read = try? decryptor.decrypt(changed, for: recipient)
                // No key depends on these four bytes (RFC 8188 section 2.2).
                if (16..<20).contains(index), let read {
                    #expect(read == plaintext)
                    #expect(try ContentHeader(of: changed).recordBytes > UInt32(body.count - 86))
                } else {
                    #expect(read == nil, "byte \(index) changed by \(change)")
                }
            }
        }
        #expect(try decryptor.decrypt(body, for: recipient) == plaintext)
    }

    @Test("Another key pair or another authentication secret does not decrypt")
    func anotherRecipient() throws {
        let (encryptor, decryptor) = (try MessageEncryptor(), try MessageDecryptor())
        let (recipient, other) = (try RecipientKeyPair.generate(), try RecipientKeyPair.generate())
        let body = try encryptor.encrypt([1, 2, 3], for: recipient.publicKeys)
        let mixed = [
            other,
            try RecipientKeyPair(
                keyPair: recipient.keyPair, authenticationSecret: other.publicKeys.authenticationSecret),
            try RecipientKeyPair(
                keyPair: other.keyPair, authenticationSecret: recipient.publicKeys.authenticationSecret),
        ]
        for wrong in mixed {
            let error = try #require(throws: EncryptedContentError.self) { _ = try decryptor.decrypt(body, for: wrong) }
            #expect(error.code == .authenticationFailed)
        }
        #expect(try decryptor.decrypt(body, for: recipient) == [1, 2, 3])
    }

    @Test("A recipient with impossible keys is refused, and the encryptor goes on")
    func impossibleRecipients() throws {
        let encryptor = try MessageEncryptor()
        let good = try RecipientKeyPair.generate()
        let (point, secret) = (good.publicKeys.publicPoint, good.publicKeys.authenticationSecret)
        let malformed: [(point: [UInt8], secret: [UInt8], words: String)] = [
            ([], secret, "0 bytes"), (Array(point.dropLast()), secret, "64 bytes"), (point + [0], secret, "66 bytes"),
            ([2] + point[1...], secret, "first of them 2"), (point, [], "secret has 0 bytes"),
            (point, secret + [0], "secret has 17 bytes"), (point, Array(secret.dropLast()), "secret has 15 bytes"),
        ]
        for (point, secret, words) in malformed {
            let error = try #require(throws: EncryptedContentError.self) {
                _ = try RecipientKeys(publicPoint: point, authenticationSecret: secret)
            }
            #expect(error.code == .recipientInvalid)
            #expect(error.message.contains(words), "\(error)")
        }
        let offCurve = try RecipientKeys(
            publicPoint: point.dropLast() + [point[64] ^ 1], authenticationSecret: secret)
        for use in [
            { try offCurve.requireValidPoint() }, { _ = try encryptor.encrypt([1], for: offCurve) },
        ] as [() throws -> Void] {
            let error = try #require(throws: EncryptedContentError.self) { try use() }
            #expect(error.code == .recipientInvalid)
            #expect(error.message.contains("no point"))
        }
        try good.publicKeys.requireValidPoint()
        let body = try encryptor.encrypt([1, 2, 3], for: good.publicKeys)
        #expect(try MessageDecryptor().decrypt(body, for: good) == [1, 2, 3])
    }
}
