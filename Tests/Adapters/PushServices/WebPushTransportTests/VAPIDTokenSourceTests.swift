import Crypto
import Essentials
import JSON
import PushTestKit
import Testing
import WebPushTransport

@Suite("VAPID tokens")
struct VAPIDTokenSourceTests {
    private static let hour: Int64 = 3_600_000

    private let clocks = ManualClocks(nowMilliseconds: 1_800_000_000_000)
    private let source: VAPIDTokenSource
    private let audience: VAPIDAudience

    init() throws {
        source = VAPIDTokenSource(
            key: VAPIDSigningKey(try .generate()), subject: try VAPIDSubject("mailto:push@example.com"))
        audience = try VAPIDAudience(endpoint: "https://push.example.net/secret")
    }

    private func audience(_ number: Int) throws -> VAPIDAudience {
        try VAPIDAudience(endpoint: "https://push\(number).example.net/secret")
    }

    /// The two parts of a header value.
    private func parts(of token: VAPIDToken) throws -> (token: String, key: String) {
        let value = String(decoding: token.headerValue, as: UTF8.self)
        let parts = value.split(separator: ", ").map(String.init)
        try #require(parts.count == 2 && parts[0].hasPrefix("vapid t=") && parts[1].hasPrefix("k="))
        return (String(parts[0].dropFirst("vapid t=".count)), String(parts[1].dropFirst(2)))
    }

    @Test("A token has the header, the claims and the signature that RFC 8292 wants, and the key beside it")
    func form() throws {
        let token = try source.token(for: audience, at: clocks.now)
        let (text, key) = try parts(of: token)
        #expect(key == source.key.publicKeyText)
        let segments = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        try #require(segments.count == 3)
        let decoded = try segments.map { try #require(Base64URL.decode($0)) }
        #expect(String(decoding: decoded[0], as: UTF8.self) == #"{"typ":"JWT","alg":"ES256"}"#)
        #expect(
            String(decoding: decoded[1], as: UTF8.self)
                == #"{"aud":"https://push.example.net","exp":1800043200,"sub":"mailto:push@example.com"}"#)
        #expect(token.expiresAt == WallTime(seconds: 1_800_043_200))
        let publicKey = try ES256PublicKey(point: try #require(Base64URL.decode(key)))
        #expect(publicKey.isValid(signature: decoded[2], of: Array("\(segments[0]).\(segments[1])".utf8)))
        #expect(token.headerValue.allSatisfy { (0x20...0x7E).contains($0) })
    }

    @Test("Every subject and origin that is taken gives claims that are JSON and say the same")
    func claims() throws {
        let subject = try VAPIDSubject("https://example.com/~push/!$&'()*+,;=:@%22?a[b]#c")
        let source = VAPIDTokenSource(key: source.key, subject: subject)
        let audience = try VAPIDAudience(endpoint: "https://[2001:db8::1]:8443/x")
        let text = try parts(of: source.token(for: audience, at: clocks.now)).token
        let claims = try #require(Base64URL.decode(text.split(separator: ".")[1]))
        let parsed = try JSONParser().parse(String(decoding: claims, as: UTF8.self))
        #expect(parsed["sub"]?.string == subject.text)
        #expect(parsed["aud"]?.string == "https://[2001:db8::1]:8443")
    }

    @Test("All requests to an origin share a token for six hours, and each origin has its own")
    func sharing() throws {
        let first = try source.token(for: audience, at: clocks.now)
        let other = try source.token(for: audience(1), at: clocks.now)
        #expect(other.generation == 2)
        clocks.advance(milliseconds: 6 * Self.hour - 1)
        #expect(try source.token(for: audience, at: clocks.now).headerValue == first.headerValue)
        clocks.advance(milliseconds: 1)
        let second = try source.token(for: audience, at: clocks.now)
        #expect(second.generation == 3)
        #expect(second.headerValue != first.headerValue)
        #expect(try source.token(for: audience, at: clocks.now).generation == 3)
    }

    @Test("A refused token is replaced once; if the new one is refused as well, it stays for an hour")
    func refusals() throws {
        let first = try source.token(for: audience, at: clocks.now)
        // Within the first hour there is no other.
        #expect(try source.tokenRefused(for: audience, generation: first.generation, at: clocks.now).generation == 1)
        clocks.advance(milliseconds: Self.hour)
        let second = try source.tokenRefused(for: audience, generation: first.generation, at: clocks.now)
        #expect(second.generation == 2)
        // Late answers to the first one change nothing.
        for _ in 0..<3 {
            let late = try source.tokenRefused(for: audience, generation: first.generation, at: clocks.now)
            #expect(late.generation == 2)
        }
        clocks.advance(milliseconds: Self.hour - 1)
        #expect(try source.tokenRefused(for: audience, generation: second.generation, at: clocks.now).generation == 2)
        #expect(try source.token(for: audience, at: clocks.now).generation == 2)
        clocks.advance(milliseconds: 1)
        #expect(try source.tokenRefused(for: audience, generation: second.generation, at: clocks.now).generation == 3)
    }

    @Test("A late refusal does not keep a token longer than a request would")
    func lateRefusal() throws {
        let first = try source.token(for: audience, at: clocks.now)
        clocks.advance(milliseconds: 6 * Self.hour)
        let second = try source.token(for: audience, at: clocks.now)
        clocks.advance(milliseconds: 6 * Self.hour)
        let third = try source.tokenRefused(for: audience, generation: first.generation, at: clocks.now)
        #expect((second.generation, third.generation) == (2, 3))
    }

    @Test("A refusal for an origin that is not known any more signs one token")
    func unknownOrigin() throws {
        let token = try source.tokenRefused(for: audience, generation: 77, at: clocks.now)
        #expect(token.generation == 1)
        #expect(try source.token(for: audience, at: clocks.now).generation == 1)
    }

    @Test("The tokens of 256 origins are kept; the origin that was not used for longest makes room")
    func bounds() throws {
        let maximum = VAPIDTokenSource.originsMaximum
        for number in 0..<maximum { _ = try source.token(for: audience(number), at: clocks.now) }
        // The first one is used again, so the second one is the oldest.
        #expect(try source.token(for: audience(0), at: clocks.now).generation == 1)
        let added = try source.token(for: audience(maximum), at: clocks.now)
        #expect(added.generation == UInt64(maximum) + 1)
        #expect(try source.token(for: audience(0), at: clocks.now).generation == 1)
        for number in 2...maximum {
            #expect(try source.token(for: audience(number), at: clocks.now).generation == UInt64(number) + 1)
        }
        #expect(try source.token(for: audience(1), at: clocks.now).generation == UInt64(maximum) + 2)
    }

    @Test("Many tasks at once get the same token of an origin")
    func concurrency() async throws {
        let now = clocks.now
        let generations = try await withThrowingTaskGroup(of: UInt64.self) { [source, audience] group in
            for _ in 0..<100 { group.addTask { try source.token(for: audience, at: now).generation } }
            return try await group.reduce(into: Set<UInt64>()) { $0.insert($1) }
        }
        #expect(generations == [1])
    }
}
