import Crypto
import Essentials
import PushTestKit
import Testing

@Suite("ES256 keys")
struct ES256Tests {
    /// Returns the output of the openssl command.
    private func openssl(_ arguments: String..., input: [UInt8] = []) async throws -> [UInt8] {
        let result = try await CommandRunner.run(
            "/usr/bin/openssl", arguments, input: String(decoding: input, as: UTF8.self), in: TemporaryFolder())
        try #require(result.exitCode == 0, "\(result.errors)")
        return Array(result.output.utf8)
    }

    @Test("A signature is 64 bytes, valid for its message and for no other")
    func signatureRoundTrip() throws {
        let key = try ES256PrivateKey.generate()
        let publicKey = try ES256PublicKey(pem: Array(key.publicKeyPEM.utf8))
        for length in [0, 1, 63, 64, 1_000] {
            let message = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
            let signature = try key.sign(message)
            #expect(signature.count == 64)
            #expect(publicKey.isValid(signature: signature, of: message))
            #expect(!publicKey.isValid(signature: signature, of: message + [0]))
        }
    }

    @Test("Every changed bit, a wrong length and another key make a signature invalid")
    func forgedSignatureIsInvalid() throws {
        let key = try ES256PrivateKey.generate()
        let publicKey = try ES256PublicKey(pem: Array(key.publicKeyPEM.utf8))
        let message = Array("header.claims".utf8)
        let signature = try key.sign(message)
        for bit in 0..<512 {
            var forged = signature
            forged[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(!publicKey.isValid(signature: forged, of: message))
        }
        #expect(!publicKey.isValid(signature: [], of: message))
        #expect(!publicKey.isValid(signature: Array(signature.dropLast()), of: message))
        #expect(!publicKey.isValid(signature: signature + [0], of: message))
        #expect(!publicKey.isValid(signature: [UInt8](repeating: 0, count: 64), of: message))
        #expect(!publicKey.isValid(signature: [UInt8](repeating: 255, count: 64), of: message))
        let other = try ES256PublicKey(pem: Array(try ES256PrivateKey.generate().publicKeyPEM.utf8))
        #expect(!other.isValid(signature: signature, of: message))
    }

    @Test("The vector of RFC 7515 appendix A.3 verifies")
    func publishedVectorVerifies() throws {
        let publicKeyPEM = """
            -----BEGIN PUBLIC KEY-----
            MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV7
            6e8Tus9uPHvRVEXH8UTNG72bfocs3+257rn0s2ldbqkLJK2KRiMohYjlrQ==
            -----END PUBLIC KEY-----
            """
        let signed =
            "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290"
            + "Ijp0cnVlfQ"
        let signature = try #require(
            Base64URL.decode("DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q")
        )
        let key = try ES256PublicKey(pem: Array(publicKeyPEM.utf8))
        #expect(key.isValid(signature: signature, of: Array(signed.utf8)))
    }

    @Test("The openssl command accepts our keys and signs what we verify")
    func opensslCommandAgrees() async throws {
        let key = try ES256PrivateKey.generate()
        let publicText = try await openssl("pkey", "-pubout", input: Array(key.pem.utf8))
        #expect(publicText == Array(key.publicKeyPEM.utf8))

        let made = try await openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256")
        let read = try ES256PrivateKey(pem: made)
        #expect(Array(read.publicKeyPEM.utf8) == (try await openssl("pkey", "-pubout", input: made)))
        let older = try await openssl("ec", input: made)
        #expect(try ES256PrivateKey(pem: older).publicKeyPEM == read.publicKeyPEM)
        let compressed = try ES256PrivateKey(pem: try await openssl("ec", "-conv_form", "compressed", input: made))
        #expect(compressed.publicPoint == read.publicPoint)
    }

    @Test("A key of another kind, curve or shape is refused with a reason")
    func unusableKeyIsRefused() async throws {
        let rsa = try await openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048")
        let wide = try await openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384")
        let good = Array(try ES256PrivateKey.generate().pem.utf8)
        let encrypted = try await openssl(
            "pkcs8", "-topk8", "-passout", "pass:secret",
            input: good
        )
        let cases: [(bytes: [UInt8], code: CryptoError.Code, words: String)] = [
            (rsa, .keyInvalid, "RSA"),
            (wide, .keyInvalid, "secp384r1"),
            (encrypted, .keyInvalid, "encrypted"),
            ([], .keyMissing, "empty"),
            (Array("not a key".utf8), .keyMissing, "BEGIN PRIVATE KEY"),
        ]
        for (bytes, code, words) in cases {
            let error = try #require(throws: CryptoError.self) { _ = try ES256PrivateKey(pem: bytes) }
            #expect(error.code == code)
            #expect(error.message.contains(words), "\(error.message)")
        }
    }

    @Test("No prefix of a key file is a key")
    func truncatedKeyIsRefused() throws {
        let good = Array(try ES256PrivateKey.generate().pem.utf8)
        // The line end after the last dashes may be missing.
        for length in 0..<(good.count - 1) {
            let error = try #require(throws: CryptoError.self) { _ = try ES256PrivateKey(pem: Array(good[..<length])) }
            #expect(error.code == .keyMissing || error.code == .keyInvalid)
        }
    }

    /// The text between the two lines of dashes, without line ends: all of a PEM file that counts.
    private static func base64(ofPEM text: [UInt8]) -> [UInt8] {
        Array(text.split(separator: 0x0A).filter { !$0.starts(with: Array("-----".utf8)) }.joined())
    }

    @Test("A changed byte in a key file is refused with its reason, or yields a key that has other text")
    func damagedKeyIsAnotherOrNone() throws {
        let good = try ES256PrivateKey.generate()
        let message = Array("message".utf8)
        let signature = try good.sign(message)
        let whole = (private: Array(good.pem.utf8), public: Array(good.publicKeyPEM.utf8))
        for value: UInt8 in [0, 0x0A, 0x41, 0xFF] {
            for index in whole.private.indices {
                var damaged = whole.private
                damaged[index] = value
                do throws(CryptoError) {
                    let key = try ES256PrivateKey(pem: damaged)
                    let isSameText = Self.base64(ofPEM: damaged) == Self.base64(ofPEM: whole.private)
                    #expect((key.pem == good.pem) == isSameText, "byte \(index) is \(value)")
                } catch {
                    #expect(error.code == .keyMissing || error.code == .keyInvalid, "\(error)")
                }
            }
            for index in whole.public.indices {
                var damaged = whole.public
                damaged[index] = value
                do throws(CryptoError) {
                    let isValid = try ES256PublicKey(pem: damaged).isValid(signature: signature, of: message)
                    let (text, wholeText) = (Self.base64(ofPEM: damaged), Self.base64(ofPEM: whole.public))
                    // Four bits of the digit before the padding belong to no byte.
                    #expect(!isValid || text.dropLast(3) == wholeText.dropLast(3), "byte \(index) is \(value)")
                    #expect(isValid || text != wholeText, "byte \(index) is \(value)")
                } catch {
                    #expect(error.code == .keyMissing || error.code == .keyInvalid, "\(error)")
                }
            }
        }
    }

    @Test("A private key is no public key")
    func privateKeyIsNoPublicKey() throws {
        let error = try #require(throws: CryptoError.self) {
            _ = try ES256PublicKey(pem: Array(try ES256PrivateKey.generate().pem.utf8))
        }
        #expect(error.code == .keyMissing)
    }
}
