import Crypto
import Essentials
import PushTestKit
import Testing

@Suite("RS256 keys")
struct RS256Tests {
    /// The key of RFC 7515 appendix A.2.
    private static let publishedKey = """
        -----BEGIN PRIVATE KEY-----
        MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQCh+BYK4uPJtGXO
        jS1lYmM2K5J9vinh8CR3/BYlzJChNuOL2TSXxbbqY913EeZ8dCn5VrD7io8ImtxL
        aYk8wTM/U+3QGbh3hCUv7JFP5IV3aVlL6kKA0ywPVb9ilE8TA5a8bpvfbr3SvaNn
        juygxmj3AbONv/s4yDQs4v5tJ/reSlpIdJed1LnPmt7Ex1sFhSwsD174pcF1A5L5
        ROjtZMEQxrZHYJqkeDrrnGya11UxMFBji4NmXG9veoKjlnAqH2QbgtPr8jkiGUkf
        toaHLFcW9Qr4NY2ai50Xw0Byj3+H2JoY2PyrZ62EWQwuz3WTOTY8BwNNb2BvniHg
        VFbK5emhAgMBAAECggEAEq5xpGnNCivDflJsRQBXHx1hdR1k6Ulwe2JZD50LpXyW
        PEAeP88vLNO97IjlA7/GQ5sLKMgvfTeXZx9SE+7YwVol2NXOoAJe46sui395IW/G
        O+pWJ1O0BkTGoVEn2bKVRUCgu+GjBVaYLU6f3l9kJfFNS3E0QbVdxzubSu3Mkqzj
        kn439X0M/V51gfpRLI9JYanrC4D4qAdGcopV/0ZHHzQlBjudU2QvXt4ehNYTCBr6
        XCLQUShb1juUO1ZdiYoFaFQT5Tw8bGUl/x/jTj3ccPDVZFD9pIuhLhBOneufuBiB
        4cS98l2SR/RQyGWSeWjnczT0QU91p1DhOVRuOopznQKBgQDgHMQQ60imZV1URk0K
        pLttoLhyt3SmqdEf/kgHePDdtzEafpAu+cS191R2JiuoF2yzWXnwFDcqGigp5BNr
        0AHQfD8/Lk8l1Mk09jxxCfui5nYooNyac8YFjm3vItzVCVDnEd3BbVWG8qf6deqE
        lMGAg+C2V0L4oNXnP7LZcPAZRwKBgQC5A8R+CZW2MvRTLLHzwZkUXV866cff7tx6
        kqa0finGG0KgeqlaZPxgCZnFp7AeAcCMtiynVlJ7vMVgePsLq6XtON4tB5kP9jAP
        rq3rbAOal78eUH5OcED6eNuCV8ixEu1eWcPNCS/l1OW1EnXUEoEHKl54Xrrz2uNw
        kgMTP1FZ1wKBgAcCn1dwJKufzBWQxWQp1vsM5fggqPN1qGb5y0MAk3g7/Ls5bkUp
        5u9SN0Ai3Ya6hNnvWJMb7sXQX6U/zyO2M/hTip7tUeh7CXgwo59dkpN75gJLVds2
        9+DAncu3KXU4f2Fa+7bLNrur53k8KwPOq2bbuTG69QtV7Jr5MR0AHWKNAoGBAIf/
        evpitUf+4JYbLpvNXWcY052Mpz22aR84mY3nh3F2LF2mjMJDpTg7FmuyPcVw6EcG
        yoAe9fa65iNqCq+jdw6PVNGo2hxfjSiZ8IIzHdsPXI89//pMjZcQK9r+CCoRjaZj
        OYiIDktVWZzmevJuv6WywUqd57LE3Zar3dLSIkx1AoGAIYd7DHOhrWvxkwPQsRM2
        tOgrjbcrfvtQJipd+DlcxyVuuM9sQLdgjVk2oy26F0EmpScGLq2MowX7fhd/QJQ3
        ydy5cY7YIBi87w93IKLEdfnbJtoOPLUW0ITrJReOgo1cq9SbsxYawBgfp/gh6A56
        03k2+ZQwVK0JKSHuLFkuQ3U=
        -----END PRIVATE KEY-----
        """
    private static let publishedMessage =
        "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290"
        + "Ijp0cnVlfQ"
    private static let publishedSignature =
        "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdb"
        + "F9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383"
        + "LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWy"
        + "wlVmtVrBp0igcN_IoypGlUPQGe77Rw"

    /// Returns the output of the openssl command.
    private func openssl(_ arguments: String..., input: [UInt8] = []) async throws -> [UInt8] {
        let result = try await CommandRunner.run(
            "/usr/bin/openssl", arguments, input: String(decoding: input, as: UTF8.self), in: TemporaryFolder())
        try #require(result.exitCode == 0, "\(result.errors)")
        return Array(result.output.utf8)
    }

    @Test("The signature of RFC 7515 appendix A.2 comes out, and verifies")
    func publishedVector() throws {
        let key = try RS256PrivateKey(pem: Array(Self.publishedKey.utf8))
        let message = Array(Self.publishedMessage.utf8)
        let signature = try #require(Base64URL.decode(Self.publishedSignature))
        #expect(try key.sign(message) == signature)
        let publicKey = try RS256PublicKey(pem: Array(key.publicKeyPEM.utf8))
        #expect(publicKey.isValid(signature: signature, of: message))
    }

    @Test("A signature is valid for its message and its key only, and not with any bit changed")
    func forgedSignatureIsInvalid() throws {
        let key = try RS256PrivateKey.generate()
        let publicKey = try RS256PublicKey(pem: Array(key.publicKeyPEM.utf8))
        let message = Array("header.claims".utf8)
        let signature = try key.sign(message)
        #expect(signature.count == 256)
        #expect(publicKey.isValid(signature: signature, of: message))
        #expect(!publicKey.isValid(signature: signature, of: message + [0]))
        for bit in 0..<(8 * signature.count) {
            var forged = signature
            forged[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(!publicKey.isValid(signature: forged, of: message))
        }
        for forged in [
            [], Array(signature.dropLast()), signature + [0], [0] + signature, [UInt8](repeating: 0, count: 256),
            [UInt8](repeating: 255, count: 256),
        ] { #expect(!publicKey.isValid(signature: forged, of: message)) }
        let published = try RS256PrivateKey(pem: Array(Self.publishedKey.utf8))
        let other = try RS256PublicKey(pem: Array(published.publicKeyPEM.utf8))
        #expect(!other.isValid(signature: signature, of: message))
    }

    @Test("A key is read again from its text")
    func roundTrip() throws {
        let key = try RS256PrivateKey.generate()
        let read = try RS256PrivateKey(pem: Array(key.pem.utf8))
        #expect(read.pem == key.pem)
        #expect(read.publicKeyPEM == key.publicKeyPEM)
        #expect(try read.sign([1, 2, 3]) == key.sign([1, 2, 3]))
    }

    @Test("The openssl command verifies what we sign, and we what it signs")
    func opensslCommandAgrees() async throws {
        let made = try await openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048")
        let folder = try TemporaryFolder()
        let key = try RS256PrivateKey(pem: made)
        let publicText = try await openssl("pkey", "-pubout", input: made)
        #expect(Array(key.publicKeyPEM.utf8) == publicText)
        let older = try await openssl("rsa", "-traditional", input: made)
        #expect(try RS256PrivateKey(pem: older).pem == key.pem)
        let keyFile = try folder.write("key.pem", key.pem)
        let publicFile = try folder.write("public.pem", key.publicKeyPEM)
        // In base64, because the output of a command is text.
        let script = "openssl dgst -sha256 -sign '\(keyFile)' | openssl base64 -A"
        let result = try await CommandRunner.run("/bin/sh", ["-c", script], input: "message", in: folder)
        let signature = Array(result.output.utf8).withUnsafeBufferPointer(Base64.decode)
        let message = Array("message".utf8)
        #expect(try RS256PublicKey(pem: publicText).isValid(signature: try #require(signature), of: message))
        #expect(try key.sign(message) == signature)
        let signatureFile = try folder.write("signature", Base64.encode(try key.sign(message)))
        let verification =
            "openssl base64 -d -A -in '\(signatureFile)' >raw && "
            + "openssl dgst -sha256 -verify '\(publicFile)' -signature raw"
        let verified = try await CommandRunner.run("/bin/sh", ["-c", verification], input: "message", in: folder)
        #expect(verified.exitCode == 0, "\(verified.errors)")
    }

    @Test("A key of another kind, length or shape is refused with a reason")
    func unusableKeyIsRefused() async throws {
        let short = try await openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2040")
        let restricted = try await openssl("genpkey", "-algorithm", "RSA-PSS", "-pkeyopt", "rsa_keygen_bits:2048")
        let good = Array(Self.publishedKey.utf8)
        let encrypted = try await openssl("pkcs8", "-topk8", "-passout", "pass:secret", input: good)
        let cases: [(bytes: [UInt8], code: CryptoError.Code, words: String)] = [
            (short, .keyInvalid, "2040 bits"),
            (restricted, .keyInvalid, "RSA-PSS"),
            (encrypted, .keyInvalid, "encrypted"),
            (Array(try ES256PrivateKey.generate().pem.utf8), .keyInvalid, "EC"),
            ([], .keyMissing, "empty"),
            (Array("not a key".utf8), .keyMissing, "BEGIN PRIVATE KEY"),
        ]
        for (bytes, code, words) in cases {
            let error = try #require(throws: CryptoError.self) { _ = try RS256PrivateKey(pem: bytes) }
            #expect(error.code == code)
            #expect(error.message.contains(words), "\(error.message)")
        }
        let publicCases: [(bytes: [UInt8], code: CryptoError.Code, words: String)] = [
            (try await openssl("pkey", "-pubout", input: short), .keyInvalid, "2040 bits"),
            (Array(try ES256PrivateKey.generate().publicKeyPEM.utf8), .keyInvalid, "EC"),
            (good, .keyMissing, "BEGIN PUBLIC KEY"),
        ]
        for (bytes, code, words) in publicCases {
            let error = try #require(throws: CryptoError.self) { _ = try RS256PublicKey(pem: bytes) }
            #expect(error.code == code)
            #expect(error.message.contains(words), "\(error.message)")
        }
    }

    @Test("A changed character in a key file is refused, unless it changes no byte of the key")
    func damagedKeyIsRefused() throws {
        let good = try RS256PrivateKey(pem: Array(Self.publishedKey.utf8))
        let text = Array(good.pem.utf8)
        let signature = try good.sign([])
        for index in stride(from: 0, to: text.count, by: 3) {
            var damaged = text
            damaged[index] = damaged[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            do throws(CryptoError) {
                #expect(try RS256PrivateKey(pem: damaged).sign([]) == signature, "byte \(index)")
            } catch {
                #expect(error.code == .keyMissing || error.code == .keyInvalid, "\(error)")
            }
        }
    }
}
