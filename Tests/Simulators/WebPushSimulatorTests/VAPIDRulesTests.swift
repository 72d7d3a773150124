import Crypto
import Essentials
import PushServiceSimulator
import SimulatorTestClient
import Testing
import WebPushSimulator

@Suite("Web Push: the rules of VAPID", .timeLimit(.minutes(10)))
struct VAPIDRulesTests {
    /// The status and a part of the body or of a header, by profile.
    typealias Expectation = [ServiceProfile: (status: Int, text: String)]

    private static let badToken: Expectation = [
        .plain: (403, "vapid"), .fcm: (403, "invalid JWT provided"), .mozilla: (401, #""errno":109"#),
        .apple: (403, #"{"reason":"BadJwtToken"}"#), .wns: (401, "JWT Authentication Failed"),
    ]
    private static let malformed = badToken.merging([.apple: (400, #"{"reason":"BadAuthorizationHeader"}"#)]) { $1 }
    private static let badKey = badToken.merging([.apple: (400, #"{"reason":"BadVapidPublicKey"}"#)]) { $1 }
    private static let otherKey: Expectation = [
        .plain: (403, "vapid key mismatch"), .fcm: (403, "do not correspond to the credentials used to create"),
        .mozilla: (401, #""errno":109"#), .apple: (400, #"{"reason":"VapidPkHashMismatch"}"#),
        .wns: (401, "public key in the request does not match the channel Url"),
    ]

    /// Sends a push with a header to each profile.
    private func expect(
        _ expectation: Expectation, _ fixture: WebPushFixture, _ name: String,
        _ authorization: (String) throws -> String?
    ) async throws {
        for profile in ServiceProfile.allCases {
            let origin = profile.rawValue
            let push = try fixture.push(origin).with("authorization", try authorization(origin))
            let response = await (try fixture.client(origin)).send(push)
            let expected = try #require(expectation[profile])
            #expect(response.status == expected.status, "\(name) at \(origin): \(response)")
            let text = (response.body ?? "") + (response.header("x-wns-error-description") ?? "")
            #expect(text.contains(expected.text), "\(name) at \(origin): \(response)")
        }
    }

    @Test("Tokens with a wrong header, signature, claim or time are refused as each service does it")
    func tokens() async throws {
        try await WebPushFixture.run { fixture in
            let now = fixture.clock.nowMilliseconds / 1_000
            func header(_ token: String, _ key: ES256PrivateKey? = nil) -> String {
                "vapid t=\(token), k=\(Base64URL.encode((key ?? fixture.key).publicPoint))"
            }
            let claimChanges: [(String, [String: String?])] = [
                ("no aud", ["aud": nil]), ("other aud", ["aud": #""https://example.com""#]),
                ("aud a number", ["aud": "1"]),
                ("no exp", ["exp": nil]), ("exp past", ["exp": "\(now)"]), ("exp too far", ["exp": "\(now + 86_401)"]),
                ("exp a text", ["exp": "\"\(now + 60)\""]), ("sub a number", ["sub": "1"]),
                ("aud twice", ["aud": #""https://a","aud":"https://a""#]),
            ]
            for (name, changes) in claimChanges {
                try await expect(Self.badToken, fixture, name) { origin in
                    header(try fixture.token(claims: try fixture.claims(origin, changes)))
                }
            }
            for wrong in [
                #"{"typ":"JWT","alg":"none"}"#, #"{"typ":"JWT","alg":"RS256"}"#, #"{"alg":"ES256"}"#, "no JSON",
                #"{"typ":"jwt","alg":"ES256"}"#,
            ] {
                try await expect(Self.badToken, fixture, wrong) { origin in
                    header(try fixture.token(header: wrong, claims: try fixture.claims(origin)))
                }
            }
            try await expect(Self.badToken, fixture, "aud with a slash") { origin in
                let aud = "\"\(try fixture.simulator.url(ofOrigin: origin))/\""
                return header(try fixture.token(claims: try fixture.claims(origin, ["aud": aud])))
            }
            let other = try ES256PrivateKey.generate()
            try await expect(Self.badToken, fixture, "signed by another") { origin in
                header(try fixture.token(claims: try fixture.claims(origin), key: other))
            }
            try await expect(Self.badToken, fixture, "signature cut") { origin in
                header(String(try fixture.token(claims: try fixture.claims(origin)).dropLast(2)))
            }
            try await expect(Self.badToken, fixture, "two parts") { origin in
                header(String(try fixture.token(claims: try fixture.claims(origin)).split(separator: ".")[0]) + ".e30")
            }
        }
    }

    @Test("exp may be exactly a day ahead, and a token that was good is refused when its time has passed")
    func expiry() async throws {
        let summary = try await WebPushFixture.run { fixture in
            let exp = "\(fixture.clock.nowMilliseconds / 1_000 + 86_400)"
            let token = try fixture.token(claims: try fixture.claims("fcm", ["exp": exp]))
            let push = try fixture.push("fcm")
                .with("authorization", "vapid t=\(token), k=\(Base64URL.encode(fixture.key.publicPoint))")
            let client = try fixture.client("fcm")
            #expect(await client.send(push).status == 201)
            fixture.clock.advance(bySeconds: 86_399)
            #expect(await client.send(push).status == 201)
            fixture.clock.advance(bySeconds: 2)
            #expect(await client.send(push).status == 403)
        }
        #expect(summary.vapidTokens == 1 && summary.count("VAPID_EXPIRED") == 1)
    }

    @Test("The header's form is that of RFC 8292 and RFC 9110, in whatever order and case")
    func grammar() async throws {
        try await WebPushFixture.run { fixture in
            let key = Base64URL.encode(fixture.key.publicPoint)
            func token(_ origin: String) throws -> String { try fixture.token(claims: try fixture.claims(origin)) }
            // {t} stands for a good token, {k} for its key.
            func filled(_ form: String, _ origin: String) throws -> String {
                form.replacing("{k}", with: key).replacing("{t}", with: try token(origin))
            }
            for form in [
                "vapid t={t},k={k}", "VAPID k={k}, t={t}", #"vapid t="{t}" , k="{k}""#, "vapid t={t},\tk={k},  x=1",
            ] {
                let push = try fixture.push("fcm").with("authorization", try filled(form, "fcm"))
                #expect(try await fixture.client("fcm").send(push).status == 201, "\(form)")
            }
            for form in [
                "WebPush {t}", "vapid t={t}{k}", "vapid t={t}; k={k}", "vapid k={k}", "vapid t={t}, t={t}, k={k}",
                "vapid t=, k={k}", "Bearer {t}", "vapid t={t}, k={k},", "vapid t={t} k={k}", "vapid t={t}é, k={k}",
                "vapid", "",
            ] {
                try await expect(Self.malformed, fixture, form) { try filled(form, $0) }
            }
            var offCurve = fixture.key.publicPoint
            offCurve[64] ^= 1
            let short = Array(fixture.key.publicPoint.dropLast())
            for bytes in [offCurve, short, [2] + fixture.key.publicPoint[1...33]] {
                try await expect(Self.badKey, fixture, "\(bytes.count) bytes") { origin in
                    "vapid t=\(try token(origin)), k=\(Base64URL.encode(bytes))"
                }
            }
            try await expect(Self.badKey, fixture, "padded") { "vapid t=\(try token($0)), k=\(key.dropLast())." }
        }
    }

    @Test("A subscription is bound to the key of the simulator, or to the first key that a push has")
    func binding() async throws {
        let known = try ES256PrivateKey.generate()
        let summary = try await WebPushFixture.run(
            WebPushFixture.configured { $0.applicationServerKey = known.publicPoint }
        ) { fixture in
            try await expect(Self.otherKey, fixture, "another key") { try fixture.authorization($0) }
            for origin in fixture.simulator.originNames {
                let push = try fixture.push(origin, key: known)
                #expect(try await fixture.client(origin).send(push).status == 201, "\(origin)")
            }
        }
        #expect(summary.count("VAPID_KEY_MISMATCH") == 5 && summary.accepted == 5)
        try await WebPushFixture.run { fixture in
            for origin in fixture.simulator.originNames { try await fixture.send(origin) }
            try await expect(Self.otherKey, fixture, "a second key") { try fixture.authorization($0, key: known) }
            // Another subscription is bound to whom it meets.
            #expect(try await fixture.client("fcm").send(try fixture.push("fcm", 1, key: known)).status == 201)
            fixture.simulator.forgetKeys()
            #expect(try await fixture.client("fcm").send(try fixture.push("fcm", 0, key: known)).status == 201)
        }
    }

    @Test("Without a token the services of RFCs and Mozilla take pushes to subscriptions that are bound to no key")
    func missing() async throws {
        let missing: Expectation = [
            .plain: (401, "vapid missing"), .fcm: (401, "authorization header must be specified"),
            .mozilla: (401, #""errno":109"#), .apple: (400, "BadAuthorizationHeader"), .wns: (401, "Authentication"),
        ]
        try await WebPushFixture.run { fixture in
            for origin in fixture.simulator.originNames {
                let push = try fixture.push(origin).with("authorization", nil)
                let isFree = origin == "plain" || origin == "mozilla"
                let response = await (try fixture.client(origin)).send(push)
                #expect((response.status == 201) == isFree, "\(origin)")
                #expect(isFree || response.header("www-authenticate") == "vapid")
                try await fixture.send(origin)
            }
            try await expect(missing, fixture, "bound by now") { _ in nil }
        }
    }

    @Test("Apple's service wants a subject that can be reached, and no other looks at it")
    func subjects() async throws {
        try await WebPushFixture.run { fixture in
            let bad: [String?] = [
                nil, "\"mailto:me@localhost\"", "\"mailto:me@mac.local\"", "\"mailto: <me@example.com>\"",
                "\"mailto:me@x.invalid\"", "\"me@example.com\"", "\"https://localhost\"", "\"\"", "\"mailto:me\"",
                "\"mailto:@example.com\"", "\"http://example.com\"", "\"https://example.com:443/a b\"",
            ]
            for subject in bad {
                for origin in fixture.simulator.originNames {
                    let token = try fixture.token(claims: try fixture.claims(origin, ["sub": subject]))
                    let push = try fixture.push(origin)
                        .with("authorization", "vapid t=\(token), k=\(Base64URL.encode(fixture.key.publicPoint))")
                    let response = await (try fixture.client(origin)).send(push)
                    let isApple = origin == "apple"
                    #expect(response.status == (isApple ? 403 : 201), "\(origin) \(subject ?? "none")")
                    #expect(!isApple || response.body == #"{"reason":"BadJwtToken"}"#)
                }
            }
            for subject in ["mailto:a.b@example.com", "https://example.com", "https://push.example.org:8443/a?x=1"] {
                let token = try fixture.token(claims: try fixture.claims("apple", ["sub": "\"\(subject)\""]))
                let push = try fixture.push("apple")
                    .with("authorization", "vapid t=\(token), k=\(Base64URL.encode(fixture.key.publicPoint))")
                #expect(try await fixture.client("apple").send(push).status == 201, "\(subject)")
            }
        }
    }

    @Test("Distinct tokens are counted for each origin, however often each is used")
    func counts() async throws {
        let summary = try await WebPushFixture.run { fixture in
            let one = try fixture.authorization("fcm")
            for _ in 0..<3 {
                #expect(
                    try await fixture.client("fcm").send(try fixture.push("fcm").with("authorization", one)).status
                        == 201)
            }
            try await fixture.send("fcm")
            try await fixture.send("apple")
        }
        #expect(summary.origins["fcm"]?.vapidTokens == 2 && summary.origins["apple"]?.vapidTokens == 1)
        #expect(summary.vapidTokens == 3)
    }
}
