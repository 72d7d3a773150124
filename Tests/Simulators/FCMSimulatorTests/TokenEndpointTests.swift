import Crypto
import JSON
import PushServiceSimulator
import SimulatorTestClient
import Testing

@testable import FCMSimulator

@Suite("FCM: access tokens", .timeLimit(.minutes(10)))
struct TokenEndpointTests {
    private func error(_ response: ClientResponse) throws -> [String?] {
        let body = try JSONParser().parse(try #require(response.body))
        return [body["error"]?.string, body["error_description"]?.string]
    }

    @Test("A good assertion gets a token of the configured life, with which messages are sent")
    func goodAssertion() async throws {
        let summary = try await FCMFixture.run(FCMFixture.configured { $0.accessTokenSeconds = 1_800 }) { fixture in
            let response = await fixture.client.send(fixture.tokenRequest(try fixture.assertion()))
            let body = try JSONParser().parse(try #require(response.body))
            #expect(response.status == 200 && response.header("content-type") == "application/json; charset=UTF-8")
            #expect(body["expires_in"]?.int64 == 1_800 && body["token_type"]?.string == "Bearer")
            let token = try #require(body["access_token"]?.string)
            #expect(token.hasPrefix("ya29."))
            #expect(await fixture.client.send(fixture.message(accessToken: token)).status == 200)
        }
        #expect(summary.tokens.requests == 1 && summary.tokens.issued == 1 && summary.tokens.refused == 0)
        #expect(summary.tokens.atOnceMaximum == 1)
    }

    @Test("An assertion without kid is verified by the account's keys, and google-auth's several scopes will do")
    func otherGoodAssertions() async throws {
        try await FCMFixture.run { fixture in
            _ = try await fixture.accessToken(try fixture.assertion(header: #"{"alg":"RS256"}"#))
            let scopes = "https://www.googleapis.com/auth/cloud-platform https://www.googleapis.com/auth/userinfo.email"
            let token = try await fixture.accessToken(
                try fixture.assertion(claims: fixture.claims(["scope": "\"\(scopes)\""])))
            #expect(await fixture.client.send(fixture.message(accessToken: token)).status == 200)
        }
    }

    @Test("Each claim and header that is wrong is refused as Google does it")
    func badAssertions() async throws {
        let other = try RS256PrivateKey.generate()
        let summary = try await FCMFixture.run { fixture in
            let now = fixture.clock.nowMilliseconds / 1_000
            func claims(_ changes: [String: String?]) throws -> String {
                try fixture.assertion(claims: fixture.claims(changes))
            }
            let time =
                "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. "
                + "Check your iat and exp values in the JWT claim."
            let signature = "Invalid JWT Signature."
            let cases: [(String, String, String)] = [
                (try claims(["exp": "\(now + 3_601)"]), "invalid_grant", time),
                (try claims(["iat": "\(now + 61)", "exp": "\(now + 600)"]), "invalid_grant", time),
                (try claims(["iat": "\(now - 3_600)", "exp": "\(now - 60)"]), "invalid_grant", time),
                (try claims(["iat": "\(now)", "exp": "\(now)"]), "invalid_grant", time),
                (try claims(["exp": "\(Int64.min)", "iat": "\(Int64.max)"]), "invalid_grant", time),
                (try fixture.assertion(key: other), "invalid_grant", signature),
                (try fixture.assertion(header: #"{"alg":"RS256","kid":"another"}"#), "invalid_grant", signature),
                (try fixture.assertion(header: #"{"alg":"none"}"#), "invalid_grant", signature),
                (
                    try claims(["iss": "\"gone@chat-4711.iam.gserviceaccount.com\""]), "invalid_grant",
                    "Invalid grant: account not found"
                ),
                (
                    try claims(["aud": "\"https://127.0.0.1/token\""]), "invalid_grant",
                    "Invalid JWT: Failed audience check. The right audience is https://oauth2.googleapis.com/token"
                ),
                (
                    try claims(["scope": nil]), "invalid_scope",
                    "Invalid OAuth scope or ID token audience provided."
                ),
                (
                    try claims(["scope": "\"everything\""]), "invalid_scope",
                    "Invalid OAuth scope or ID token audience provided."
                ),
                ("a.b", "invalid_grant", "Invalid JWT: Failed to parse the assertion."),
                (try claims(["iat": nil]), "invalid_grant", "Invalid JWT: Failed to parse the assertion."),
                (
                    try fixture.assertion(header: #"{"alg":"RS256","typ":"JOSE"}"#), "invalid_grant",
                    "Invalid JWT: Failed to parse the assertion."
                ),
            ]
            for (assertion, code, description) in cases {
                let response = await fixture.client.send(fixture.tokenRequest(assertion))
                #expect(response.status == 400, "\(description)")
                #expect(try error(response) == [code, description])
            }
            // Within the skew all is well.
            _ = try await fixture.accessToken(try claims(["iat": "\(now + 60)", "exp": "\(now + 3_600)"]))
        }
        #expect(summary.tokens.refused == 15 && summary.tokens.issued == 1)
    }

    @Test("A refusal has exactly Google's bytes")
    func bytesOfRefusal() async throws {
        try await FCMFixture.run { fixture in
            let response = await fixture.client.send(
                fixture.tokenRequest(try fixture.assertion(header: #"{"alg":"HS256"}"#)))
            #expect(
                response.body == """
                    {
                      "error": "invalid_grant",
                      "error_description": "Invalid JWT Signature."
                    }

                    """)
        }
    }

    @Test("A request that is no form of this grant is refused")
    func badRequests() async throws {
        try await FCMFixture.run { fixture in
            let good = fixture.tokenRequest(try fixture.assertion())
            func code(_ request: WireRequest) async throws -> String? {
                try error(await fixture.client.send(request))[0]
            }
            #expect(try await code(good.with("content-type", "application/json")) == "invalid_request")
            var request = good
            request.body = Array("grant_type=password&assertion=x".utf8)
            #expect(try await code(request) == "unsupported_grant_type")
            request.body = Array("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer".utf8)
            #expect(try await code(request) == "invalid_request")
            request.body = good.body + Array("&assertion=twice".utf8)
            #expect(try await code(request) == "invalid_request")
            request.body = good.body + Array("&x=%zz".utf8)
            #expect(try await code(request) == "invalid_request")
            #expect(await fixture.client.send(good.with(":method", "GET")).status == 404)
        }
    }

    @Test("A token expires by the simulator's clock, and revoked ones are refused at once")
    func expiryAndRevocation() async throws {
        let summary = try await FCMFixture.run(FCMFixture.configured { $0.accessTokenSeconds = 60 }) { fixture in
            func status(_ token: String) async -> Int? {
                await fixture.client.send(fixture.message(accessToken: token)).status
            }
            let first = try await fixture.accessToken()
            fixture.clock.advance(bySeconds: 59)
            #expect(await status(first) == 200)
            let second = try await fixture.accessToken()
            fixture.clock.advance(bySeconds: 1)
            #expect(await status(first) == 401)
            #expect(await status(second) == 200)
            fixture.simulator.revokeAccessTokens()
            #expect(await status(second) == 401)
            _ = try await fixture.accessToken()
            fixture.clock.advance(bySeconds: 100)
            _ = try await fixture.accessToken()
        }
        #expect(summary.tokens.secondsLeftMaximum == 1, "the second was fetched one second before the first expired")
        #expect(summary.tokens.lateRefreshes == 1)
        #expect(summary.count("ACCESS_TOKEN_EXPIRED") == 2)
    }

    @Test("Fetches at the same time are counted as such")
    func singleFlight() async throws {
        let summary = try await FCMFixture.run(FCMFixture.configured { $0.latency = .fixed(milliseconds: 20) }) {
            fixture in
            let request = fixture.tokenRequest(try fixture.assertion())
            #expect(await fixture.client.send([request, request, request]).allSatisfy { $0.status == 200 })
        }
        #expect(summary.tokens.atOnceMaximum == 3)
    }

    @Test("Faults refuse, delay and silence the token endpoint alone", arguments: TokenRefusal.allCases)
    func faults(_ refusal: TokenRefusal) async throws {
        let summary = try await FCMFixture.run { fixture in
            let token = try await fixture.accessToken()
            fixture.simulator.add(
                try .fcm(
                    #"{"fault":"answer","on":"oauth","reason":"\#(refusal.rawValue)","retry_after":7,"times":1}"#))
            #expect(await fixture.client.send(fixture.message(accessToken: token)).status == 200)
            let response = await fixture.client.send(fixture.tokenRequest(try fixture.assertion()))
            #expect(response.status == refusal.answer().status)
            #expect(response.header("retry-after") == "7")
            #expect(response.answer?.bytes == refusal.answer().body)
            _ = try await fixture.accessToken()
        }
        #expect(summary.faults == 1)
    }

    @Test("The token endpoint can fail by status, and stay silent")
    func transientFaults() async throws {
        let summary = try await FCMFixture.run { fixture in
            fixture.simulator.add(
                try .fcm(
                    """
                    {"fault":"answer","on":"oauth","status":503,"retry_after":30,"times":1}
                    {"fault":"answer","on":"oauth","status":400,"reason":"internal_failure","times":1}
                    {"fault":"silence","on":"oauth","times":1}
                    """))
            let request = fixture.tokenRequest(try fixture.assertion())
            let first = await fixture.client.send(request)
            #expect(first.status == 503 && first.body == "" && first.header("retry-after") == "30")
            let second = await fixture.client.send(request)
            #expect(second.status == 400)
            #expect(try error(second)[0] == "internal_failure")
            let stream = try #require(await fixture.client.sendWithoutWaiting(request))
            _ = try await fixture.accessToken()
            try await fixture.client.reset(stream)
        }
        #expect(summary.serving.silent == 1)
        #expect(summary.tokens.atOnceMaximum == 2, "the silent one was under way when the last was fetched")
    }
}
