import Crypto
import Essentials
import Testing

@Suite("Keys as environment variables, secret stores and editors write them")
struct KeyTextTests {
    private static let lines = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgEEeihSkxTZiT18hb
        5HFLwg812uSnEfQYxN9N4j/C4+OhRANCAARmrprhiO/EZGm26VqG63BjZUatPigq
        Q38UrXP0DC5GWS9Oka+WtWG8e8ZbdxFa+HtzSXNtnoU2+dHXm3+dxl3q
        -----END PRIVATE KEY-----
        """.split(separator: "\n").map(String.init)

    /// The forms of a key's lines that mean the same.
    static func forms(_ lines: [String]) -> [String: String] {
        let whole = lines.joined(separator: "\n") + "\n"
        let inner = lines.dropFirst().dropLast().joined()
        return [
            "as it is": whole, "literal \\n": lines.joined(separator: #"\n"#),
            "doubled \\\\n": lines.joined(separator: #"\\n"#) + #"\\n"#,
            "literal \\r\\n": lines.joined(separator: #"\r\n"#), "one line": lines.joined(),
            "blanks": lines.joined(separator: " "), "CR": lines.joined(separator: "\r"),
            "CRLF": lines.joined(separator: "\r\n"), "indented": lines.map { "    \($0)" }.joined(separator: "\n"),
            "double quotes": "\"\(lines.joined(separator: #"\n"#))\"", "single quotes": "'\(whole)'",
            "quoted lines": lines.map { "\"\($0)\"" }.joined(separator: ",\n"),
            "backslashes": lines.joined(separator: "\\\n"), "byte order mark": "\u{feff}" + whole,
            "assignment": "APNS_KEY=\"\(whole)\"", "base64": Base64.encode(Array(whole.utf8)),
            "no first and last line": inner, "one base64 line": "\(lines[0])\n\(inner)\n\(lines[lines.count - 1])\n",
            "blank lines": lines.joined(separator: "\n\n"),
        ]
    }

    @Test("A key whose line ends, margins or quotes were changed is the same key", arguments: forms(lines))
    func sameKey(name: String, text: String) throws {
        let key = try ES256PrivateKey(pem: Array(text.utf8))
        #expect(key.pem.split(separator: "\n").joined() == Self.lines.joined(), "\(name)")
    }

    @Test("An RSA key and a public key are read in the same forms")
    func otherKeys() throws {
        let rsa = try RS256PrivateKey.generate()
        for (name, text) in Self.forms(rsa.pem.split(separator: "\n").map(String.init)) {
            #expect(try RS256PrivateKey(pem: Array(text.utf8)).pem == rsa.pem, "\(name)")
        }
        let pem = try ES256PrivateKey.generate().publicKeyPEM
        let forms = Self.forms(pem.split(separator: "\n").map(String.init))
        for (name, text) in forms where name != "no first and last line" {
            _ = try ES256PublicKey(pem: Array(text.utf8))
        }
    }

    @Test(
        "What is not clear is refused with its cause, and without the key",
        arguments: [
            (lines.dropLast().joined(separator: "\n"), "cut off"),
            (lines.joined(separator: #"\x"#), "other characters than base64"),
            (lines[0] + "\nMIGH****\n" + lines[4], "other characters than base64"),
            ("-----BEGIN CERTIFICATE-----\nMIGH\n-----END CERTIFICATE-----\n", "is a certificate, not a private key"),
            ("-----BEGIN PUBLIC KEY-----\nMIGH\n-----END PUBLIC KEY-----\n", "is a public key, not a private key"),
            ((lines[0...1] + lines[3...]).joined(separator: "\n"), "damaged"),
            (lines.dropFirst().joined(separator: "\n"), "BEGIN PRIVATE KEY"),
        ])
    func causes(text: String, words: String) throws {
        let error = try #require(throws: CryptoError.self) { _ = try ES256PrivateKey(pem: Array(text.utf8)) }
        #expect(error.message.contains(words), "\(error)")
        #expect(!error.message.contains("MIGH"), "\(error)")
    }

    @Test("A file in UTF-16 is named")
    func wideCharacters() throws {
        var bytes: [UInt8] = [0xff, 0xfe]
        for unit in Self.lines.joined(separator: "\n").utf16 {
            bytes += [UInt8(truncatingIfNeeded: unit), UInt8(truncatingIfNeeded: unit >> 8)]
        }
        let error = try #require(throws: CryptoError.self) { _ = try ES256PrivateKey(pem: bytes) }
        #expect(error.message.contains("UTF-16"))
    }
}
