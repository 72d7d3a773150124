import Crypto
import PushTestKit
import Testing

@Suite("AES-128 in Galois/Counter Mode")
struct AES128GCMTests {
    private struct Vector {
        let key: [UInt8]
        let nonce: [UInt8]
        let plaintext: [UInt8]
        let sealed: [UInt8]
    }

    private static let key = Hexadecimal.bytes("feffe9928665731c6d6a8f9467308308")
    private static let nonce = Hexadecimal.bytes("cafebabefacedbaddecaf888")

    /// The test cases 1, 2 and 3 of McGrew and Viega, "The Galois/Counter Mode of Operation (GCM)", appendix B.
    private static let vectors = [
        Vector(
            key: [UInt8](repeating: 0, count: 16), nonce: [UInt8](repeating: 0, count: 12), plaintext: [],
            sealed: Hexadecimal.bytes("58e2fccefa7e3061367f1d57a4e7455a")),
        Vector(
            key: [UInt8](repeating: 0, count: 16), nonce: [UInt8](repeating: 0, count: 12),
            plaintext: [UInt8](repeating: 0, count: 16),
            sealed: Hexadecimal.bytes("0388dace60b6a392f328c2b971b2fe78ab6e47d42cec13bdf53a67b21257bddf")),
        Vector(
            key: key, nonce: nonce,
            plaintext: Hexadecimal.bytes(
                """
                d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72
                1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255
                """),
            sealed: Hexadecimal.bytes(
                """
                42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa05
                1ba30b396a0aac973d58e091473f59854d5c2af327cd64a62cf35abd2ba6fab4
                """)),
    ]

    @Test("The published ciphertexts come out and are opened again, in turn with one object")
    func publishedVectors() throws {
        let cipher = try AES128GCM()
        for vector in Self.vectors + Self.vectors.reversed() {
            for prefix in [[], [1, 2, 3]] as [[UInt8]] {
                var message = prefix + vector.plaintext
                try cipher.seal(&message, from: prefix.count, key: vector.key, nonce: vector.nonce)
                #expect(message == prefix + vector.sealed)
                #expect(cipher.open(&message, from: prefix.count, key: vector.key, nonce: vector.nonce))
                #expect(message == prefix + vector.plaintext)
            }
        }
    }

    @Test("No changed bit, other key, other nonce or cut is opened, and the object goes on after it")
    func forgeries() throws {
        let cipher = try AES128GCM()
        var sealed = Array("a message of some length".utf8)
        let plaintext = sealed
        try cipher.seal(&sealed, from: 0, key: Self.key, nonce: Self.nonce)
        func isOpened(_ message: [UInt8], key: [UInt8] = Self.key, nonce: [UInt8] = Self.nonce) -> Bool {
            var message = message
            return cipher.open(&message, from: 0, key: key, nonce: nonce)
        }
        for bit in 0..<(8 * sealed.count) {
            var forged = sealed
            forged[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(!isOpened(forged))
        }
        for length in sealed.indices { #expect(!isOpened(Array(sealed[..<length]))) }
        #expect(!isOpened(sealed + [0]))
        #expect(!isOpened(sealed, key: Self.key.reversed()))
        #expect(!isOpened(sealed, nonce: Self.nonce.reversed()))
        #expect(cipher.open(&sealed, from: 0, key: Self.key, nonce: Self.nonce))
        #expect(sealed == plaintext)
    }

    @Test("What was sealed is opened, for every length up to some blocks and random keys")
    func roundTrips() throws {
        let cipher = try AES128GCM()
        for length in 0...100 {
            let key = try RandomBytes.make(count: AES128GCM.keyBytes)
            let nonce = try RandomBytes.make(count: AES128GCM.nonceBytes)
            let plaintext = try RandomBytes.make(count: length)
            var message = plaintext
            try cipher.seal(&message, from: 0, key: key, nonce: nonce)
            #expect(message.count == length + AES128GCM.tagBytes)
            #expect(cipher.open(&message, from: 0, key: key, nonce: nonce))
            #expect(message == plaintext)
        }
    }
}
