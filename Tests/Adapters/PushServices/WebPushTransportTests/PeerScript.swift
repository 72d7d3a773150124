import Essentials
import Foundation
import PushTestKit
import Testing

/// `Scripts/peer.py`: http-ece, pywebpush and py-vapid, which share no code with us.
enum PeerScript {
    /// The requests to the script; all bytes are base64url.
    struct Requests: Encodable {
        struct Decryption: Encodable {
            let scalar, auth, body: String
        }

        struct Encryption: Encodable {
            let p256dh, auth, plaintext: String
            var rs = 4_096
        }

        struct Signature: Encodable {
            let pem: String
            let claims: Claims
        }

        var decrypt: [Decryption] = []
        var encrypt: [Encryption] = []
        var push: [Encryption] = []
        var verify: [String] = []
        var sign: [Signature] = []
        var `public`: [String] = []
    }

    /// The claims of a token.
    struct Claims: Codable, Equatable {
        let aud: String
        let exp: Int64
        let sub: String
    }

    /// The answers of the script.
    struct Answers: Decodable {
        struct Verification: Decodable {
            let valid: Bool
            let header: [String: String]
            let claims: Claims
            let key: String
        }

        let decrypted, encrypted, pushed: [String]
        let verified: [Verification]
        let signed, `public`: [String]
    }

    /// Runs it once, with all requests of a test.
    static func run(_ requests: Requests) async throws -> Answers {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/Scripts/run-peer"
        let input = String(decoding: try JSONEncoder().encode(requests), as: UTF8.self)
        let result = try await CommandRunner.run(script, [], input: input, in: TemporaryFolder())
        try #require(
            result.exitCode == 0,
            """
            if the libraries cannot be installed: deploy/bin/install-packages test, and a way to PyPI for the first run
            \(result.errors)
            """)
        return try JSONDecoder().decode(Answers.self, from: Data(result.output.utf8))
    }

    static func bytes(_ text: String) throws -> [UInt8] { try #require(Base64URL.decode(text)) }
}
