import Crypto
import Essentials
import Foundation
import PushServiceSimulator
import PushTestKit
import Testing
import WebPushSimulator

/// `Scripts/send.py`: pywebpush, which shares no code with us, unchanged but for the certificate that it trusts.
@Suite("Web Push: pywebpush", .timeLimit(.minutes(20)))
struct PyWebPushTests {
    struct Push: Encodable {
        struct Subscription: Codable {
            struct Keys: Codable { let p256dh, auth: String }

            let endpoint: String
            let keys: Keys
        }

        var subscription: Subscription
        var data: String
        var key: String?
        var claims = ["sub": WebPushFixture.subject]
        var ttl = 60
        var headers = ["urgency": "high"]

        init(_ subscription: SimulatedSubscription, _ data: String, key: String?) throws {
            self.subscription = try JSONDecoder().decode(Subscription.self, from: Data(subscription.json.utf8))
            self.data = data
            self.key = key
        }
    }

    struct Answer: Decodable {
        let status: Int
        let headers: [String: String]
        let text: String
    }

    /// A simulator of all profiles with HTTP/1.1, where subscriptions were made with a key.
    private static func start(_ key: ES256PrivateKey) async throws -> WebPushSimulator {
        var configuration = try WebPushFixture.configured { $0.applicationServerKey = key.publicPoint }
        for index in configuration.origins.indices { configuration.origins[index].speaksHTTP1 = true }
        configuration.script = try .lines(
            """
            {"subscription":"fcm-0000005","answer":"gone"}
            {"subscription":"fcm-0000006","answer":"redirect","status":308}
            {"subscription":"fcm-0000007","answer":"redirect","status":307}
            {"subscription":"fcm-0000009","answer":"stale"}
            {"subscription":"wns-0000005","answer":"throttled","retry_after":900}
            {"subscription":"mozilla-0000005","answer":"unavailable","retry_after_date":60}
            {"subscription":"mozilla-0000006","answer":"accept","delay":20}
            """)
        configuration.webPushFaults = try .lines(
            """
            {"fault":"answer","token":"apple-0000005","reason":"DEVICE_LIMIT","times":1}
            {"fault":"cut-answer","token":"fcm-0000009","bytes":4}
            {"fault":"delay","token":"plain-0000009","ms":20}
            {"fault":"goaway","token":"wns-0000009"}
            """)
        return try await WebPushSimulator.start(configuration)
    }

    private static func run(_ pushes: [Push], _ simulator: WebPushSimulator) async throws -> [Answer] {
        let folder = try TemporaryFolder()
        let anchor = try folder.write("anchor.pem", simulator.trustAnchorPEM)
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/Scripts/run-pywebpush"
        let input = String(decoding: try JSONEncoder().encode(pushes), as: UTF8.self)
        let result = try await CommandRunner.run(script, [anchor], input: input, in: folder)
        try #require(
            result.exitCode == 0,
            """
            if the libraries cannot be installed: deploy/bin/install-packages test, and a way to PyPI for the first run
            \(result.errors)
            """)
        return try JSONDecoder().decode([Answer].self, from: Data(result.output.utf8))
    }

    @Test(
        "It sends to each profile over HTTP/1.1, its content is read, and its mistakes are refused as the service does")
    func sends() async throws {
        let key = try ES256PrivateKey.generate()
        let simulator = try await Self.start(key)
        let good = Base64URL.encode(try key.rawScalar)
        let other = Base64URL.encode(try ES256PrivateKey.generate().rawScalar)
        let names = simulator.originNames
        var pushes: [Push] = []
        var expected: [(String, Int)] = []
        func add(_ name: String, _ index: Int, _ status: Int, _ change: (inout Push) -> Void = { _ in }) throws {
            let subscription = try simulator.subscription(ofOrigin: name, index)
            var push = try Push(subscription, "{\"text\":\"grüße \(expected.count)\"}", key: good)
            change(&push)
            pushes.append(push)
            expected.append((name, status))
        }
        let otherKey = ["plain": 403, "fcm": 403, "mozilla": 401, "apple": 400, "wns": 401]
        let badToken = otherKey.merging(["apple": 403]) { $1 }
        for name in names { try add(name, 0, 201) }
        for name in names { try add(name, 1, otherKey[name] ?? 0) { $0.key = other } }
        for name in names { try add(name, 2, badToken[name] ?? 0) { $0.claims["aud"] = "https://example.com" } }
        for name in names { try add(name, 3, name == "apple" ? 403 : 201) { $0.claims["sub"] = "mailto:me@localhost" } }
        for name in names { try add(name, 4, name == "apple" || name == "wns" ? 400 : 201) { $0.ttl = 0 } }
        for name in names {
            let missing = ["plain": 401, "fcm": 401, "mozilla": 401, "apple": 400, "wns": 401]
            try add(name, 8, missing[name] ?? 0) { $0.key = nil }
        }
        let firstOfStates = expected.count
        try add("fcm", 5, 410)
        try add("wns", 5, 406)
        try add("mozilla", 5, 503)
        try add("mozilla", 6, 201)
        try add("apple", 5, 413)
        // This library follows redirects, which the trap finds out.
        try add("fcm", 6, 201)
        try add("fcm", 7, 201)
        try add("fcm", 9, 404)
        try add("plain", 9, 201)
        // Headers that HTTP/1.1 does not have leave a request as it is.
        try add("wns", 9, 201)
        let answers = try await Self.run(pushes, simulator)
        try #require(answers.count == expected.count)
        for (index, (answer, (name, status))) in zip(answers, expected).enumerated() {
            #expect(answer.status == status, "\(index) at \(name): \(answer)")
        }
        let states = answers[firstOfStates...]
        #expect(states[firstOfStates].text == "push subscription has unsubscribed or expired.\n")
        #expect(states[firstOfStates + 1].headers["retry-after"] == "900")
        #expect(states[firstOfStates + 1].headers["x-wns-status"] == "channelthrottled")
        #expect(states[firstOfStates + 2].headers["retry-after"]?.hasSuffix(" GMT") == true)
        #expect(states[firstOfStates + 4].text == #"{"reason":"PayloadTooLarge"}"#)
        #expect(states[firstOfStates + 7].text == "A va")
        for index in 0..<5 {
            let record = try #require(
                try await simulator.recorded().first { $0.subscription == names[index] + "-0000000" })
            #expect(record.plaintext == Array("{\"text\":\"grüße \(index)\"}".utf8) && record.urgency == "high")
        }
        let summary = try await simulator.stop()
        #expect(summary.trapVisits == 2 && summary.reusedKeys == 0 && summary.duplicates == 0)
        #expect(summary.unreadable == 0 && summary.accepted == 5 + 4 + 3 + 3 && summary.faults == 4)
    }
}
