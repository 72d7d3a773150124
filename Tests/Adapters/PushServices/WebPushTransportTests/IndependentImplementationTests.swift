import Crypto
import EncryptedContent
import Essentials
import PushTestKit
import Testing
import WebPushTransport

@Suite("The Web Push libraries of others")
struct IndependentImplementationTests {
    private let recipients: [RecipientKeyPair]
    private let plaintexts: [[UInt8]]

    init() throws {
        var numbers = SeededGenerator(seed: 6)
        let lengths = [1, 2, 15, 16, 17, 1_000, 3_992, 3_993]
        plaintexts = lengths.map { length in (0..<length).map { _ in UInt8.random(in: 0...255, using: &numbers) } }
        recipients = try lengths.map { _ in try RecipientKeyPair.generate() }
    }

    private func encryptions(recordBytes: Int = 4_096) -> [PeerScript.Requests.Encryption] {
        zip(recipients, plaintexts).map { recipient, plaintext in
            PeerScript.Requests.Encryption(
                p256dh: Base64URL.encode(recipient.publicKeys.publicPoint),
                auth: Base64URL.encode(recipient.publicKeys.authenticationSecret),
                plaintext: Base64URL.encode(plaintext), rs: recordBytes)
        }
    }

    @Test("http-ece decrypts what we encrypt, also nothing at all")
    func theyDecrypt() async throws {
        let encryptor = try MessageEncryptor()
        var requests = PeerScript.Requests()
        for (recipient, plaintext) in zip(recipients + [recipients[0]], plaintexts + [[]]) {
            let body = try encryptor.encrypt(plaintext, for: recipient.publicKeys)
            requests.decrypt.append(
                .init(
                    scalar: Base64URL.encode(try recipient.keyPair.rawScalar),
                    auth: Base64URL.encode(recipient.publicKeys.authenticationSecret), body: Base64URL.encode(body)))
        }
        let answers = try await PeerScript.run(requests)
        #expect(try answers.decrypted.map(PeerScript.bytes) == plaintexts + [[]])
    }

    @Test("We decrypt what http-ece and pywebpush encrypt, and refuse more than one record")
    func theyEncrypt() async throws {
        var requests = PeerScript.Requests()
        requests.push = encryptions()
        requests.encrypt = encryptions(recordBytes: 100_000) + encryptions(recordBytes: 18)
        let answers = try await PeerScript.run(requests)
        let decryptor = try MessageDecryptor()
        for (bodies, count) in [(answers.pushed, recipients.count), (answers.encrypted, 2 * recipients.count)] {
            try #require(bodies.count == count)
            for (recipient, (plaintext, body)) in zip(recipients, zip(plaintexts, bodies)) {
                #expect(try decryptor.decrypt(PeerScript.bytes(body), for: recipient) == plaintext)
            }
        }
        for (recipient, body) in zip(recipients, answers.encrypted.dropFirst(recipients.count)) {
            let error = try #require(throws: EncryptedContentError.self) {
                _ = try decryptor.decrypt(PeerScript.bytes(body), for: recipient)
            }
            #expect(error.code == .recordInvalid)
        }
    }

    @Test("py-vapid verifies our header, and reads the same claims and the same key")
    func theyVerify() async throws {
        let clocks = ManualClocks()
        let source = VAPIDTokenSource(
            key: VAPIDSigningKey(try .generate()), subject: try VAPIDSubject("https://example.com/contact?topic=push"))
        let endpoints = [
            "https://fcm.googleapis.com/fcm/send/a:b", "https://push.example.net:8443/x", "https://[::1]:1/",
        ]
        var requests = PeerScript.Requests()
        for endpoint in endpoints {
            let token = try source.token(for: try VAPIDAudience(endpoint: endpoint), at: clocks.now)
            requests.verify.append(String(decoding: token.headerValue, as: UTF8.self))
        }
        let answers = try await PeerScript.run(requests)
        try #require(answers.verified.count == endpoints.count)
        for (answer, endpoint) in zip(answers.verified, endpoints) {
            #expect(answer.valid)
            #expect(answer.header == ["typ": "JWT", "alg": "ES256"])
            #expect(answer.key == source.key.publicKeyText)
            let claims = PeerScript.Claims(
                aud: try VAPIDAudience(endpoint: endpoint).origin, exp: clocks.now.wall.seconds + 12 * 3_600,
                sub: source.subject.text)
            #expect(answer.claims == claims)
        }
    }

    @Test("py-vapid finds the same public key in both forms of a private key, and we verify what it signs")
    func theySign() async throws {
        let keys = try (0..<3).map { _ in try ES256PrivateKey.generate() }
        let claims = PeerScript.Claims(
            aud: "https://push.example.net", exp: 1_800_000_000, sub: "mailto:push@example.com")
        var requests = PeerScript.Requests()
        requests.public = try keys.map(\.pem) + keys.map { Base64URL.encode(try $0.rawScalar) }
        requests.sign = keys.map { .init(pem: $0.pem, claims: claims) }
        let answers = try await PeerScript.run(requests)
        let expected = try requests.public.map { try VAPIDSigningKey(reading: Array($0.utf8)).publicKeyText }
        #expect(answers.public == expected)
        try #require(answers.signed.count == keys.count)
        for (value, key) in zip(answers.signed, keys) {
            let token = try #require(value.split(separator: ",").first).dropFirst("vapid t=".count)
            let parts = token.split(separator: ".")
            try #require(parts.count == 3)
            let publicKey = try ES256PublicKey(point: key.publicPoint)
            let signature = try PeerScript.bytes(String(parts[2]))
            #expect(publicKey.isValid(signature: signature, of: Array("\(parts[0]).\(parts[1])".utf8)))
        }
    }
}
