import Crypto
import Testing

@testable import APNsSimulator

@Suite("Provider tokens")
struct ProviderTokenTests {
    private let now: Int64 = 1_800_000_000

    private func bytes(_ text: String) -> ArraySlice<UInt8> { ArraySlice(text.utf8) }

    @Test("A token that a known key signed is genuine, the first time and again")
    func genuineToken() throws {
        let factory = try TokenFactory()
        var verifier = try factory.verifier()
        let text = bytes(try factory.token(issuedAtSeconds: now))
        for _ in 0..<2 {
            let found = verifier.genuineToken(inAuthorization: text)
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
        for text in texts { #expect(verifier.genuineToken(inAuthorization: bytes(text)) == nil) }
        #expect(verifier.genuineToken(inAuthorization: bytes(good)) != nil)
    }

    @Test("The scheme has to be bearer, in any case")
    func scheme() {
        #expect(ProviderToken.text(inAuthorization: bytes("bearer abc")) == bytes("abc"))
        #expect(ProviderToken.text(inAuthorization: bytes("Bearer abc")) == bytes("abc"))
        for text in ["", "bearer", "bearer ", "basic abc", "abc"] {
            #expect(ProviderToken.text(inAuthorization: bytes(text)) == nil)
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
            let text = bytes(try factory.token(issuedAtSeconds: step.issuedAt))
            let token = try #require(ProviderToken(text: text))
            return session.admit(token, authorization: text, nowSeconds: step.time)
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
        let text = bytes(try factory.token(issuedAtSeconds: now))
        #expect(!session.isAuthenticated)
        let token = try #require(ProviderToken(text: text))
        #expect(session.admit(token, authorization: text, nowSeconds: now) == nil)
        #expect(session.isAuthenticated)
        #expect(session.isCurrent(text))
        #expect(!session.isCurrent(text.dropLast()))
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
