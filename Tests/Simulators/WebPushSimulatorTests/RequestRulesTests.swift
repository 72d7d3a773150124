import Crypto
import EncryptedContent
import Essentials
import PushServiceSimulator
import SimulatorTestClient
import Testing
import WebPushSimulator

@Suite("Web Push: the rules for headers and bodies", .timeLimit(.minutes(10)))
struct RequestRulesTests {
    /// Sends a changed push to each profile, and compares status and text; nil means that it is accepted.
    private func expect(
        _ expected: [ServiceProfile: (status: Int, text: String)?], _ fixture: WebPushFixture, _ name: String,
        _ change: (WireRequest) -> WireRequest
    ) async throws {
        for profile in ServiceProfile.allCases {
            let origin = profile.rawValue
            let response = await (try fixture.client(origin)).send(change(try fixture.push(origin)))
            guard case let expectation?? = expected[profile] else {
                #expect(response.status == 201, "\(name) at \(origin): \(response)")
                continue
            }
            #expect(response.status == expectation.status, "\(name) at \(origin): \(response)")
            let text = (response.body ?? "") + (response.header("x-wns-error-description") ?? "")
            #expect(text.contains(expectation.text), "\(name) at \(origin): \(response)")
        }
    }

    @Test("TTL has to be there and a number; Apple and Windows refuse 0, and a very long time is shortened")
    func ttl() async throws {
        try await WebPushFixture.run { fixture in
            try await expect(
                [
                    .plain: (400, "ttl missing"), .fcm: (400, "ttl missing"), .mozilla: (400, #""errno":111"#),
                    .apple: (400, "BadTtl"), .wns: (400, "ttl missing"),
                ], fixture, "none"
            ) { $0.with("ttl", nil) }
            for value in ["-1", "1.5", "soon", "", "+5", "0x10"] {
                try await expect(
                    [
                        .plain: (400, "ttl invalid"), .fcm: (400, "ttl invalid"), .mozilla: (400, #""errno":114"#),
                        .apple: (400, "BadTtl"), .wns: (400, "ttl invalid"),
                    ], fixture, value
                ) { $0.with("ttl", value) }
            }
            try await expect(
                [.apple: (400, "BadTtl"), .wns: (400, "Ttl value conflicts with X-WNS-Cache-Policy")], fixture, "0"
            ) { $0.with("ttl", "0") }
            try await expect([:], fixture, "long") { $0.with("ttl", "99999999999999999999999999") }
        }
    }

    @Test("Urgency has four words, and none is the same as normal")
    func urgency() async throws {
        try await WebPushFixture.run { fixture in
            for value in ["urgent", "High", "", "high, low"] {
                try await expect(
                    [
                        .plain: (400, "urgency"), .fcm: (400, "urgency"), .mozilla: (400, "urgency"),
                        .apple: (400, "BadUrgency"), .wns: (400, "urgency"),
                    ], fixture, value
                ) { $0.with("urgency", value) }
            }
            for value in ["very-low", "low", "normal", "high", nil] {
                try await expect([:], fixture, value ?? "none") { $0.with("urgency", value) }
            }
            #expect(try await fixture.simulator.recorded().last?.urgency == "normal")
        }
    }

    @Test("Topic has 32 characters of base64url at most; Apple refuses lengths that are no base64")
    func topic() async throws {
        try await WebPushFixture.run { fixture in
            let refused: [ServiceProfile: (status: Int, text: String)?] = [
                .plain: (400, "topic invalid"), .fcm: (400, "topic invalid"), .mozilla: (400, #""errno":113"#),
                .apple: (400, "BadWebPushTopic"), .wns: (400, "topic invalid"),
            ]
            for value in ["a b", "ü", "a=", "", String(repeating: "a", count: 33)] {
                try await expect(refused, fixture, value) { push in
                    var push = push
                    push.headers.append(("topic", value))
                    return push
                }
            }
            for length in 1...32 {
                let isBroken = length % 4 == 1
                try await expect(isBroken ? [.apple: (400, "BadWebPushTopic")] : [:], fixture, "\(length)") { push in
                    var push = push
                    push.headers.append(("topic", String(repeating: "-", count: length)))
                    return push
                }
            }
        }
    }

    @Test("A request has to be a POST to the origin, with aes128gcm and each header once")
    func form() async throws {
        try await WebPushFixture.run { fixture in
            for value in ["aesgcm", "AES128GCM", "gzip", nil] {
                try await expect(
                    [
                        .plain: (415, "encoding"), .fcm: (400, "encoding"), .mozilla: (400, #""errno":110"#),
                        .apple: (400, "BadWebPushRequest"), .wns: (400, "encoding"),
                    ], fixture, value ?? "none"
                ) { $0.with("content-encoding", value) }
            }
            let everywhere: (Int, String) -> [ServiceProfile: (status: Int, text: String)?] = { status, text in
                [
                    .plain: (status, text), .fcm: (status, text), .mozilla: (status, text), .apple: (status, ""),
                    .wns: (status, text),
                ]
            }
            try await expect(everywhere(405, "method"), fixture, "PUT") { $0.with(":method", "PUT") }
            try await expect(everywhere(421, "misdirected"), fixture, "host") { $0.with(":authority", "localhost") }
            try await expect(everywhere(400, "header repeated"), fixture, "twice") { push in
                var push = push
                push.headers.append(("urgency", "high"))
                return push
            }
        }
    }

    @Test("A body may have 4096 bytes and no more")
    func size() async throws {
        try await WebPushFixture.run { fixture in
            let tooLarge: [ServiceProfile: (status: Int, text: String)?] = [
                .plain: (413, "content too large"), .fcm: (400, "must be less than 4096 bytes"),
                .mozilla: (413, #""errno":104"#), .apple: (413, "PayloadTooLarge"), .wns: (413, "content too large"),
            ]
            for profile in ServiceProfile.allCases {
                let origin = profile.rawValue
                let whole = try fixture.push(origin, 0, String(repeating: "x", count: 3_993))
                #expect(whole.body.count == 4_096)
                #expect(try await fixture.client(origin).send(whole).status == 201, "\(origin)")
            }
            try await expect(tooLarge, fixture, "4097") { push in
                WireRequest(headers: push.headers, body: [UInt8](repeating: 7, count: 4_097))
            }
            try await expect(tooLarge, fixture, "100000") { push in
                WireRequest(headers: push.headers, body: [UInt8](repeating: 7, count: 100_000))
            }
        }
    }

    @Test("A body that breaks a rule of RFC 8188 or RFC 8291 is refused, whatever the profile says of it")
    func bodies() async throws {
        let changes: [(String, String, (inout [UInt8]) -> Void)] = [
            ("cut in the header", "CONTENT_INVALID", { $0 = Array($0.prefix(50)) }),
            ("header alone", "CONTENT_INVALID", { $0 = Array($0.prefix(86)) }),
            ("record size of 17", "CONTENT_INVALID", { $0.replaceSubrange(16..<20, with: [0, 0, 0, 17]) }),
            ("two records", "CONTENT_INVALID", { $0.replaceSubrange(16..<20, with: [0, 0, 0, 20]) }),
            ("key identifier of 64 bytes", "CONTENT_INVALID", { $0[20] = 64 }),
            ("point off the curve", "CONTENT_INVALID", { $0[85] ^= 1 }),
            ("compressed point", "CONTENT_INVALID", { $0[21] = 2 }),
            ("salt changed", "CONTENT_UNREADABLE", { $0[0] ^= 1 }),
            ("content changed", "CONTENT_UNREADABLE", { $0[90] ^= 1 }),
            ("tag changed", "CONTENT_UNREADABLE", { $0[$0.count - 1] ^= 1 }),
        ]
        let statuses = ["plain": 400, "fcm": 400, "mozilla": 400, "apple": 400, "wns": 400]
        let summary = try await WebPushFixture.run { fixture in
            for (name, reason, change) in changes {
                for (origin, status) in statuses {
                    var push = try fixture.push(origin)
                    change(&push.body)
                    #expect(try await fixture.client(origin).send(push).status == status, "\(name) at \(origin)")
                    #expect(try await fixture.simulator.recorded().last { $0.origin == origin }?.reason == reason)
                }
            }
        }
        #expect(summary.accepted == 0 && summary.answered == 50)
    }

    @Test("A push for another browser is refused; a simulator that is as blind as the services accepts and drops it")
    func otherRecipient() async throws {
        for refuses in [true, false] {
            let summary = try await WebPushFixture.run(
                WebPushFixture.configured { $0.refusesUnreadable = refuses }
            ) { fixture in
                var push = try fixture.push("fcm", 0)
                push.body = try fixture.push("fcm", 1).body
                #expect(try await fixture.client("fcm").send(push).status == (refuses ? 400 : 201))
                push.body = Array(push.body.prefix(30))
                #expect(try await fixture.client("fcm").send(push).status == 400, "the form shows to everybody")
                let record = try #require(try await fixture.simulator.recorded().first)
                #expect(record.plaintext == nil && record.fate == (refuses ? nil : .unreadable))
            }
            #expect(summary.unreadable == (refuses ? 0 : 1) && summary.delivered == 0)
        }
    }

    @Test("The key that signs must not encrypt, and salts and keys that come twice are counted")
    func reuse() async throws {
        let summary = try await WebPushFixture.run { fixture in
            let push = try fixture.push("plain")
            #expect(try await fixture.client("plain").send(push).status == 201)
            #expect(try await fixture.client("plain").send(push).status == 201)
            // The salt of one message with the rest of another.
            var mixed = try fixture.push("mozilla")
            mixed.body.replaceSubrange(0..<16, with: push.body.prefix(16))
            #expect(try await fixture.client("mozilla").send(mixed).status == 400)
            var signed = try fixture.push("apple")
            signed.body.replaceSubrange(21..<86, with: fixture.key.publicPoint)
            #expect(try await fixture.client("apple").send(signed).status == 400)
            let records = try await fixture.simulator.recorded()
            #expect(records.map(\.isReused) == [false, true, true, false])
            #expect(records.map(\.isDuplicate) == [false, true, false, false])
            #expect(records.last?.reason == "KEY_REUSED")
        }
        #expect(summary.reusedKeys == 2 && summary.duplicates == 1 && summary.distinctMessages == 1)
    }
}
