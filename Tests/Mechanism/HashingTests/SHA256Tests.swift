import Crypto
import Hashing
import PushTestKit
import Testing

@Suite("SHA-256")
struct SHA256Tests {
    @Test(
        "The examples of FIPS 180 have their digests",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
        ])
    func examples(_ text: String, _ digits: String) {
        let digest = SHA256.digest(of: Array(text.utf8))
        #expect(digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() == digits)
    }

    @Test("Messages of every length around the blocks have the digests that OpenSSL makes")
    func agreesWithOpenSSL() {
        var random = SeededGenerator(seed: 4)
        for count in Array(0...260) + [2_047, 2_048] {
            let message = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(SHA256.digest(of: message) == SHA256Digest.digest(message), "\(count) bytes")
        }
    }
}
