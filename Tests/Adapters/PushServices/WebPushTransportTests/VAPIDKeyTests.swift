import Crypto
import Essentials
import Testing
import WebPushTransport

@Suite("VAPID keys")
struct VAPIDKeyTests {
    /// The key pair of RFC 8292 section 2.4 has no private half there, so this is that of RFC 7515 appendix A.3.
    private static let scalar = "jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"
    private static let publicKey =
        "BH_Nzidw9sRdQYPL7m_bS3tYBzM1e-nvE7rPbjx70VRFx_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"

    @Test("A key is read from its scalar in base64url, with white space and padding around it, and from PEM text")
    func forms() throws {
        for text in [Self.scalar, Self.scalar + "\n", " \t\(Self.scalar)\r\n", Self.scalar + "=", Self.scalar + "=\n"] {
            #expect(try VAPIDSigningKey(reading: Array(text.utf8)).publicKeyText == Self.publicKey)
        }
        let pem = try VAPIDSigningKey(reading: Array(Self.scalar.utf8)).signingKey.pem
        #expect(try VAPIDSigningKey(reading: Array(pem.utf8)).publicKeyText == Self.publicKey)
        #expect(try VAPIDSigningKey(reading: Array("comment\n\(pem)".utf8)).publicKeyText == Self.publicKey)
    }

    @Test("A key is read as tools write key pairs, in each base64, and its public half has to fit")
    func pairs() throws {
        let standard = Self.scalar.replacing("-", with: "+").replacing("_", with: "/")
        let pem = try VAPIDSigningKey(reading: Array(Self.scalar.utf8)).signingKey.pem
        let (json, other) = (#"{"publicKey":"\#(Self.publicKey)","privateKey":"\#(Self.scalar)"}"#, Self.scalar)
        let forms = [
            standard, standard + "=", "\"\(standard)=\"", "'\(other)'", "\u{feff}\(other)\r\n", json,
            "\u{feff}\(json)\n",
            #"{"privateKey":"\#(standard)="}"#, #"{"kty":"EC","crv":"P-256","d":"\#(Self.scalar)"}"#,
            "\n=====\n\nPublic Key:\n\(Self.publicKey)\n\nPrivate Key:\n\(Self.scalar)\n\n=====\n",
            pem.split(separator: "\n").joined(separator: #"\n"#), pem.split(separator: "\n").joined(),
            Base64.encode(Array(pem.utf8)), pem.split(separator: "\n").dropFirst().dropLast().joined(separator: "\n"),
        ]
        for text in forms {
            #expect(try VAPIDSigningKey(reading: Array(text.utf8)).publicKeyText == Self.publicKey, "\(text)")
        }
        let foreign = try VAPIDSigningKey(ES256PrivateKey.generate()).publicKeyText
        let refused = [
            (#"{"publicKey":"\#(foreign)","privateKey":"\#(Self.scalar)"}"#, "is not its public half"),
            (#"{"publicKey":"\#(Self.publicKey)"}"#, "without the text \"privateKey\""), ("{", "not JSON"),
            (#"{"privateKey":"\#(Self.publicKey)"}"#, "as a public key has"),
        ]
        for (text, words) in refused {
            let error = try #require(throws: VAPIDError.self) { _ = try VAPIDSigningKey(reading: Array(text.utf8)) }
            #expect(error.message.contains(words) && !error.message.contains(Self.scalar), "\(error)")
        }
    }

    @Test("A text that is no key is refused with a reason that does not repeat it")
    func refusals() throws {
        let cases: [(text: String, words: String)] = [
            ("", "is empty"), (" \n", "is empty"), ("=", "is empty"), ("not a key", "neither PEM text nor base64url"),
            (Self.publicKey, "as a public key has"), (String(Self.scalar.dropLast(3)), "has 30 bytes"),
            (Self.scalar + "AAAA", "has 35 bytes"), (String(repeating: "A", count: 43), "above 0"),
            (String(repeating: "_", count: 42) + "8", "above 0"),
            ("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "damaged"),
            (try RS256PrivateKey.generate().pem, "RSA"),
        ]
        for (text, words) in cases {
            let error = try #require(throws: VAPIDError.self) { _ = try VAPIDSigningKey(reading: Array(text.utf8)) }
            #expect(error.code == .keyInvalid)
            #expect(error.message.contains(words), "\(error)")
            #expect(text.count < 20 || !error.message.contains(text.prefix(20)), "\(error)")
        }
    }

    @Test("A key that is printed or dumped shows its public half only")
    func printing() throws {
        let key = try VAPIDSigningKey(reading: Array(Self.scalar.utf8))
        var dumped = ""
        dump(key, to: &dumped)
        for text in ["\(key)", String(reflecting: key), dumped] {
            #expect(text.contains(Self.publicKey))
            #expect(!text.contains(Self.scalar))
            #expect(!text.contains("PRIVATE"))
        }
    }
}
