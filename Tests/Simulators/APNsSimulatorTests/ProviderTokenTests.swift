import Crypto
import Essentials
import Foundation
import PushTestKit
import Testing

@testable import APNsSimulator

@Suite("Provider tokens")
struct ProviderTokenTests {
    private let now: Int64 = 1_800_000_000

    private func genuineToken(_ text: String, _ verifier: inout ProviderTokenVerifier) -> ProviderToken? {
        Array(text.utf8).withUnsafeBufferPointer { verifier.genuineToken(inAuthorization: $0) }
    }

    private func token(_ text: String) throws -> ProviderToken {
        try #require(Array(text.utf8).withUnsafeBufferPointer { ProviderToken(text: $0) })
    }

    private func admit(_ text: String, to session: inout ProviderTokenSession, at time: Int64) throws -> Rejection? {
        let token = try token(text)
        return Array(text.utf8).withUnsafeBufferPointer { text in
            session.admit(token, authorization: text, nowSeconds: time)
        }
    }

    private func scheme(_ value: String) -> String? {
        Array(value.utf8).withUnsafeBufferPointer { value in
            ProviderToken.text(inAuthorization: value).map { String(decoding: $0, as: UTF8.self) }
        }
    }

    @Test("A token that a known key signed is genuine, the first time and again")
    func genuineToken() throws {
        let factory = try TokenFactory()
        var verifier = try factory.verifier()
        let text = try factory.token(issuedAtSeconds: now)
        for _ in 0..<2 {
            let found = genuineToken(text, &verifier)
            let token = try #require(found)
            #expect(token.keyID == factory.keyID)
            #expect(token.teamID == factory.teamID)
            #expect(token.issuedAtSeconds == now)
        }
    }

    @Test("A token is not genuine if key, team, algorithm, form or signature are wrong")
    func falseTokens() throws {
        let factory = try TokenFactory()
        let other = try TokenFactory()
        var verifier = try factory.verifier()
        let good = try factory.token(issuedAtSeconds: now)
        let header = #"{"alg":"ES256","kid":"ABC123DEFG"}"#
        let claims = #"{"iss":"DEF123GHIJ","iat":1800000000}"#
        let texts = [
            try other.token(issuedAtSeconds: now),
            try factory.token(header: #"{"alg":"none","kid":"ABC123DEFG"}"#, claims: claims),
            try factory.token(header: #"{"alg":"ES256","kid":"ABC123DEFH"}"#, claims: claims),
            try factory.token(header: #"{"alg":"ES256"}"#, claims: claims),
            try factory.token(header: header, claims: #"{"iss":"DEF123GHIK","iat":1800000000}"#),
            try factory.token(header: header, claims: #"{"iss":"DEF123GHIJ"}"#),
            try factory.token(header: header, claims: #"{"iss":"DEF123GHIJ","iat":"1800000000"}"#),
            try factory.token(header: header, claims: "no JSON"),
            String(good.dropLast(4)), good + "AAAA", "a.b.c", "a.b", "", "..", good.replacing(".", with: ","),
            String(repeating: "a", count: 10_000),
        ]
        for text in texts { #expect(genuineToken(text, &verifier) == nil) }
        #expect(genuineToken(good, &verifier) != nil)
    }

    @Test("A token whose signature is in DER, as Java and OpenSSL make it, is genuine; a damaged one is not")
    func signatureInDER() async throws {
        let factory = try TokenFactory()
        var verifier = try factory.verifier()
        let signed = try factory.token(issuedAtSeconds: now).split(separator: ".").dropLast().joined(separator: ".")
        let folder = try TemporaryFolder()
        try folder.write("key.pem", factory.key.pem)
        try folder.write("signed", signed)
        let result = try await CommandRunner.run(
            "/usr/bin/openssl", ["dgst", "-sha256", "-sign", "key.pem", "-out", "signature", "signed"], in: folder)
        try #require(result.exitCode == 0, "\(result.errors)")
        let signature = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.path + "/signature")))
        #expect(genuineToken("\(signed).\(Base64URL.encode(signature))", &verifier)?.keyID == factory.keyID)
        var changed = signature
        changed[changed.count - 1] ^= 1
        for damaged in [changed, signature + [0], Array(signature.dropLast()), []] {
            #expect(genuineToken("\(signed).\(Base64URL.encode(damaged))", &verifier) == nil)
        }
    }

    @Test("The scheme has to be bearer, in any case")
    func scheme() {
        #expect(scheme("bearer abc") == "abc")
        #expect(scheme("Bearer abc") == "abc")
        for text in ["", "bearer", "bearer ", "basic abc", "abc"] {
            #expect(scheme(text) == nil)
        }
    }

    /// Says what a connection answers to a row of tokens, each at its time.
    private func answers(
        _ steps: [(issuedAt: Int64, time: Int64, keyID: String, teamID: String)]
    ) throws -> [Rejection?] {
        var factory = try TokenFactory()
        var session = ProviderTokenSession()
        return try steps.map { step in
            factory.keyID = step.keyID
            factory.teamID = step.teamID
            return try admit(try factory.token(issuedAtSeconds: step.issuedAt), to: &session, at: step.time)
        }
    }

    @Test("A token may be an hour old, and a little ahead of our clock")
    func age() throws {
        for (issuedAt, expected) in [
            (now, nil), (now - 3_600, nil), (now - 3_601, Rejection.expiredProviderToken), (now + 60, nil),
            (now + 61, .invalidProviderToken),
        ] {
            #expect(try answers([(issuedAt, now, "K", "T")]) == [expected])
        }
    }

    @Test("A token ages on its connection")
    func ageOfCurrentToken() throws {
        let factory = try TokenFactory()
        var session = ProviderTokenSession()
        let text = try factory.token(issuedAtSeconds: now)
        #expect(!session.isAuthenticated)
        let rejection = try admit(text, to: &session, at: now)
        #expect(rejection == nil)
        #expect(session.isAuthenticated)
        #expect(Array(text.utf8).withUnsafeBufferPointer { session.isCurrent($0) })
        #expect(Array(text.utf8.dropLast()).withUnsafeBufferPointer { !session.isCurrent($0) })
        #expect(session.rejectionOfCurrent(nowSeconds: now + 3_600) == nil)
        #expect(session.rejectionOfCurrent(nowSeconds: now + 3_601) == .expiredProviderToken)
    }

    @Test("A new token is taken every 20 minutes, not more often")
    func changes() throws {
        #expect(try answers([(now, now, "K", "T"), (now + 1_200, now + 1_200, "K", "T")]) == [nil, nil])
        #expect(
            try answers([(now, now, "K", "T"), (now + 1_199, now + 1_199, "K", "T")])
                == [nil, .tooManyProviderTokenUpdates])
        // The first change is free: the connection may have begun with a token about to be replaced.
        #expect(try answers([(now - 3_000, now, "K", "T"), (now, now + 1, "K", "T")]) == [nil, nil])
        #expect(
            try answers([(now - 3_000, now, "K", "T"), (now - 1_500, now, "K", "T"), (now, now + 1_199, "K", "T")])
                == [nil, nil, .tooManyProviderTokenUpdates])
    }

    @Test("A connection belongs to one key of one team")
    func keyAndTeam() throws {
        #expect(
            try answers([(now, now, "K", "T"), (now + 1_200, now + 1_200, "L", "T")]) == [nil, .unrelatedKeyIDInToken])
        #expect(
            try answers([(now, now, "K", "T"), (now + 1_200, now + 1_200, "L", "U")]) == [nil, .invalidProviderToken])
    }
}
