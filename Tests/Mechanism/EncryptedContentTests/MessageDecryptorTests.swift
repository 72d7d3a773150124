import Crypto
import EncryptedContent
import PushTestKit
import Testing

@Suite("The decryptor")
struct MessageDecryptorTests {
    private let decryptor: MessageDecryptor
    private let recipient: RecipientKeyPair
    private let message: NaiveMessage

    init() throws {
        decryptor = try MessageDecryptor()
        recipient = try .generate()
        message = try NaiveMessage(to: recipient.publicKeys)
    }

    private func refusal(of body: [UInt8]) throws -> EncryptedContentError {
        try #require(throws: EncryptedContentError.self) { _ = try decryptor.decrypt(body, for: recipient) }
    }

    @Test("A record size below 18 is refused, and so is one that the record fills or exceeds")
    func recordSize() throws {
        let content = Array("text".utf8) + [2]
        // The record has 5 bytes of content and 16 of the tag.
        for recordBytes: UInt32 in [22, 23, 4_096, .max] {
            let body = try message.body(content: content, recordBytes: recordBytes)
            #expect(try decryptor.decrypt(body, for: recipient) == Array("text".utf8))
        }
        for recordBytes: UInt32 in [18, 20, 21] {
            let error = try refusal(of: try message.body(content: content, recordBytes: recordBytes))
            #expect(error.code == .recordInvalid)
            #expect(error.message.contains("21 bytes follow"), "\(error)")
        }
        for recordBytes: UInt32 in [0, 1, 17] {
            let error = try refusal(of: try message.body(content: content, recordBytes: recordBytes))
            #expect(error.code == .headerInvalid)
            #expect(error.message.contains("record size is \(recordBytes)"), "\(error)")
        }
    }

    @Test("A key identifier that is no uncompressed point of P-256 is refused")
    func identifier() throws {
        let point = message.sender.publicPoint
        for identifier in [[], Array("key".utf8), Array(point.dropLast()), point + [0]] {
            let error = try refusal(of: try message.body(content: [2], identifier: identifier))
            #expect(error.code == .headerInvalid)
            #expect(error.message.contains("key identifier has \(identifier.count) bytes"), "\(error)")
        }
        var (compressed, offCurve) = (point, point)
        compressed[0] = 2
        offCurve[64] ^= 1
        for identifier in [compressed, offCurve] {
            let error = try refusal(of: try message.body(content: [2], identifier: identifier))
            #expect(error.code == .senderInvalid)
        }
    }

    @Test("Padding of any length is removed, also around content that ends like padding")
    func padding() throws {
        for plaintext in [[], [0], [2], [1, 0, 2], [2, 0, 0], [0, 0, 0]] as [[UInt8]] {
            for count in [0, 1, 16, 3_000] {
                let padding = [UInt8](repeating: 0, count: count)
                let body = try message.body(content: plaintext + [2] + padding)
                #expect(try decryptor.decrypt(body, for: recipient) == plaintext)
            }
        }
    }

    @Test("A record that another one would follow, or without a delimiter, is refused")
    func delimiter() throws {
        for content in [[1], [5, 1], [5, 1, 0, 0], [3], [255, 0]] as [[UInt8]] {
            let error = try refusal(of: try message.body(content: content))
            #expect(error.code == .paddingInvalid)
            #expect(error.message.contains("delimiter"), "\(error)")
        }
        for content in [[0], [0, 0, 0]] as [[UInt8]] {
            let error = try refusal(of: try message.body(content: content))
            #expect(error.code == .paddingInvalid)
            #expect(error.message.contains("zeros"), "\(error)")
        }
        // A tag alone.
        #expect(try refusal(of: try message.body(content: [])).code == .recordInvalid)
    }

    @Test("A body that is cut anywhere is refused, and one with bytes behind it")
    func cuts() throws {
        let body = try message.body(content: Array("text".utf8) + [2])
        for length in body.indices {
            let code = try refusal(of: Array(body[..<length])).code
            switch length {
            case ..<86: #expect(code == .headerInvalid)
            case 86...102: #expect(code == .recordInvalid)
            default: #expect(code == .authenticationFailed)
            }
        }
        #expect(try refusal(of: body + [0]).code == .authenticationFailed)
    }

    @Test("Random bytes are refused, alone and behind a right header, of any length")
    func randomBytes() throws {
        var numbers = SeededGenerator(seed: 3)
        let header = Array(try message.body(content: [2])[..<ContentHeader.byteCount])
        for _ in 0..<2_000 {
            let count = Int.random(in: 0...300, using: &numbers)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &numbers) }
            _ = try refusal(of: bytes)
            _ = try refusal(of: header + bytes)
            var partly = header + bytes
            for _ in 0..<3 {
                partly[.random(in: partly.indices, using: &numbers)] = .random(in: 0...255, using: &numbers)
            }
            _ = try refusal(of: partly)
        }
        let body = try message.body(content: [7, 2])
        #expect(try decryptor.decrypt(body, for: recipient) == [7])
    }
}
