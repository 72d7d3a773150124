import APNsSimulator
import ChangeEvents
import Messages
import Notifications
import PushTestKit
import SQLiteRegistry
import Testing

@Suite("The worker, when what it is given is wrong")
struct WorkerBadInputTests {
    private typealias Wrong = (message: Message, reason: String, words: String)

    private static let longestToken = String(repeating: "ab", count: DeviceToken.bytesMaximum)

    private static func change(_ data: String, type: String = "dataset.changed") -> Message {
        TestEvents.message(TestEvents.event("b", type, "{\(data)}"))
    }

    private static func dataset(_ rest: String) -> Message {
        change(#""identityPoolId":"\#(TestEvents.pool)","identityId":"\#(TestDevices.identity(0))",\#(rest)"#)
    }

    private static func push(
        _ identifier: String = "b", token: String, app: String = "chat", body: String = "x", options: String = "{}"
    ) -> Message {
        TestEvents.message(
            TestEvents.pushRequested(
                identifier, to: .tokens([token]), app: app, notification: #"{"body":"\#(body)"}"#, options: options))
    }

    private static var everythingWrong: [Wrong] {
        let deep = String(repeating: "[", count: 100) + "1" + String(repeating: "]", count: 100)
        return [
            (TestEvents.message([0x7B, 0x22, 0xFF, 0x22, 0x7D]), "invalid-utf8", "byte 2"),
            (TestEvents.message(#"{"id":"#), "invalid-json", "byte"),
            (TestEvents.message(#"{"specversion":"1.0","x":\#(deep)}"#), "too-deep", "64"),
            (TestEvents.message([UInt8](repeating: 32, count: 5_000_000)), "body-too-large", "4194304"),
            (dataset(#""syncCount":1"#), "missing-field", "data.datasetName is missing; it must be"),
            (dataset(#""datasetName":7,"syncCount":1"#), "invalid-field", "data.datasetName is an integer; it must be"),
            (
                dataset(#""datasetName":"notes","syncCount":9223372036854775808"#), "invalid-field",
                "data.syncCount is"
            ),
            (change("", type: "dataset.exploded"), "unknown-type", "dataset.exploded"),
            (push(token: ""), "invalid-field", "data.deviceTokens[0] is an empty string; it must be"),
            (
                push(token: String(repeating: "ab", count: 300)), "invalid-field",
                "data.deviceTokens[0] is a string of 600 bytes; it must be"
            ),
            (push(token: "abc"), "invalid-field", "data.deviceTokens[0] is a string of 3 bytes; it must be"),
            (push(token: "abcd", app: "nobody"), "unknown-app", "nobody"),
            (push(token: "abcd", body: String(repeating: "x", count: 5_000)), "invalid-notification", "4096"),
        ]
    }

    @Test("Every kind of broken event becomes a dead letter that says what was wrong, and the good ones are sent")
    func brokenEvents() async throws {
        let fixture = try await WorkerFixture()
        try fixture.register(1)
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200)
        let wrong = Self.everythingWrong
        try await fixture.publish(
            wrong.map(\.message) + [TestEvents.message(WorkerFixture.datasetChanged("g", identity: 0, syncCount: 1))]
        )
        _ = try await fixture.accepted(reachingDevices: 1)
        try await worker.wait(for: "apus_dead_letters_total", toReach: wrong.count)
        let letters = try await fixture.deadLetters()
        #expect(letters.map(\.reason) == wrong.map(\.reason))
        for (letter, wrong) in zip(letters, wrong) {
            #expect(letter.detail.contains(wrong.words), "\(letter)")
        }
        #expect(try await worker.get("/readyz").status == 200)
        await worker.drainCleanly()
        try await fixture.waitForMessages(0)
        try await fixture.stop()
    }

    @Test("Of a list with a wrong entry the others are sent to, and a replay of its dead letter sends nothing again")
    func wrongEntries() async throws {
        let fixture = try await WorkerFixture()
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200)
        let tokens = (0..<20).map { TestDevices.token($0) }
        for (number, wrong) in [#""(null)""#, #""""#, #""<ab>""#, "null"].enumerated() {
            let list = (tokens.map { "\"\($0)\"" } + [wrong]).joined(separator: ",")
            let data = #"{"app":"chat","deviceTokens":[\#(list)],"notification":{"body":"x"}}"#
            try await fixture.publish([TestEvents.message(TestEvents.event("e\(number)", "push.requested", data))])
            try await fixture.simulator.waitForAnswers(20 * (number + 1))
        }
        try await worker.wait(for: "apus_dead_letters_total", toReach: 4)
        let replayed = try await fixture.apus("dead-letters", "replay", "--reason", "invalid-field")
        #expect(replayed.exitCode == 0, "\(replayed)")
        try await worker.wait(for: "apus_dead_letters_total", toReach: 8)
        let end = await worker.drain()
        #expect(end.errors.contains(#""balanced":true"#), "\(end.errors)")
        #expect(try await fixture.simulator.recorded().count == 80)
        let letters = try await fixture.deadLetters()
        #expect(letters.count == 4 && letters.allSatisfy { $0.reason == "invalid-field" })
        #expect(letters.allSatisfy { $0.detail.hasPrefix("data.deviceTokens[20] is ") }, "\(letters)")
        try await fixture.stop()
    }

    @Test("A token of the greatest length is registered and pushed to; one longer, or of no bytes, is refused")
    func tokenLengths() async throws {
        let fixture = try await WorkerFixture()
        try fixture.register(1)
        let add = ["device", "add", "--app", "chat", "--id", "long", "--token", Self.longestToken]
        #expect(try await CommandRunner.apus(add, in: fixture.folder).exitCode == 0)
        for (token, words) in [(Self.longestToken + "ab", "512"), ("", "--token")] {
            let refused = try await fixture.apus("device", "add", "--app", "chat", "--token", token)
            #expect([64, 65].contains(refused.exitCode) && refused.errors.contains(words), "\(refused)")
            #expect(!refused.errors.contains("abababab"))
        }
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200)
        try await fixture.publish([
            Self.push("1", token: Self.longestToken),
            TestEvents.message(TestEvents.pushRequested("2", to: .devices(["long"]))),
        ])
        try await fixture.simulator.waitForAnswers(2)
        let pushes = try await fixture.simulator.recorded()
        #expect(pushes.map(\.deviceToken) == [Self.longestToken, Self.longestToken])
        #expect(pushes.allSatisfy { $0.status == 200 })
        await worker.drainCleanly()
        try await fixture.waitForMessages(0)
        try await fixture.stop()
    }

    @Test("What has expired is not sent, is counted and acknowledged; what the broker finds expired is a dead letter")
    func expired() async throws {
        let fixture = try await WorkerFixture()
        try fixture.register(2)
        var ofTheBroker = TestEvents.message(WorkerFixture.datasetChanged("1", identity: 0, syncCount: 1))
        ofTheBroker.properties.expiration = "0"
        try await fixture.publish([ofTheBroker])
        try await fixture.waitForMessages(0)

        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200)
        // The broker counts from when it got the message; its publisher says that it was published long before that.
        var old = TestEvents.message(WorkerFixture.datasetChanged("2", identity: 0, syncCount: 2))
        old.properties.expiration = "60000"
        old.properties.timestampSeconds = 1_577_836_800
        // When the change happened is another matter.
        let change = WorkerFixture.datasetChanged("4", identity: 1, syncCount: 1)
        var fresh = TestEvents.message(
            change.replacing(#""id":"4""#, with: #""id":"4","time":"2020-01-01T00:00:00Z""#))
        fresh.properties.expiration = "3600000"
        try await fixture.publish([
            old, Self.push("3", token: TestDevices.token(0), options: #"{"expiration":1}"#), fresh,
        ])
        try await worker.wait(for: "apus_events_total", #"outcome="expired""#, toReach: 2)
        try await worker.wait(for: "apus_pushes_total", #"outcome="accepted""#, toReach: 1)
        let end = await worker.drain()
        #expect(end.errors.contains(#""balanced":true"#), "\(end.errors)")
        #expect(try await fixture.simulator.recorded().map(\.deviceToken) == [TestDevices.token(1)])
        try await fixture.waitForMessages(0)
        #expect(try await fixture.deadLetters().map(\.reason) == ["expired"])
        try await fixture.stop()
    }

    @Test("What events of 4 MiB need for a moment is given back, so that the memory of the worker stays bounded")
    func largeEvents() async throws {
        let fixture = try await WorkerFixture()
        try fixture.register(30)
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200)
        func pass(_ range: Range<Int>, _ padding: String) async throws {
            try await fixture.publish(
                range.map { index in
                    let event = WorkerFixture.datasetChanged("e\(index)", identity: index, syncCount: 1)
                    return TestEvents.message(String(event.dropLast()) + #","extra":[\#(padding)1]}"#)
                })
            _ = try await fixture.accepted(reachingDevices: range.upperBound)
            try await worker.wait(
                for: "apus_pushes_total", #"outcome="accepted""#, toReach: range.upperBound)
        }
        // Memory that stays for good is there after the first of them; 20 more that are kept would be 80 MiB.
        let padding = String(repeating: "1,", count: 2_090_000)
        try await pass(0..<10, padding)
        let before = try await worker.metric("process_resident_memory_bytes")
        try await pass(10..<30, padding)
        let after = try await worker.metric("process_resident_memory_bytes")
        #expect(after - before < 40 << 20, "\(before) bytes before, \(after) after")
        _ = await worker.drain()
        try await fixture.stop()
    }

    private static let inner = MessageHeader("inner", .array([.int32(1), .string("two"), .array([])]))

    private static let headers: [MessageHeader] = [
        MessageHeader("boolean", .boolean(true)), MessageHeader("int8", .int8(-128)),
        MessageHeader("uint8", .uint8(255)), MessageHeader("int16", .int16(.min)),
        MessageHeader("uint16", .uint16(.max)), MessageHeader("int32", .int32(.min)),
        MessageHeader("uint32", .uint32(.max)), MessageHeader("int64", .int64(.min)),
        MessageHeader("float32", .float32(1.5)), MessageHeader("float64", .float64(-2.25)),
        MessageHeader("decimal", .decimal(scale: 2, value: 314)),
        MessageHeader("timestamp", .timestamp(1_700_000_000)),
        MessageHeader("string", .string("gr\u{FC}n")),
        MessageHeader("raw", .rawString([0xFF, 0, 0xC3])),
        MessageHeader("bytes", .bytes([0, 1, 255])), MessageHeader("void", .void),
        MessageHeader("array", .array([.int32(1), .string("two"), .array([])])),
        MessageHeader("table", .table([inner])),
    ]

    @Test("An event with headers of every type is pushed, and carries them intact up the retry ladder")
    func headersOfEveryType() async throws {
        let throttled = TestDevices.token(0)
        let fixture = try await WorkerFixture(script: #"{"token":"\#(throttled)","answer":"throttle"}"#)
        let configuration = try fixture.folder.read("apus.toml")
        try fixture.folder.write(
            "apus.toml",
            configuration.replacing(#"["200ms", "500ms", "1s"]"#, with: #"["200ms", "1h"]"#))
        #expect(try await fixture.apus("topology", "apply").exitCode == 0)
        try fixture.register(2, perIdentity: 2)
        let worker = try fixture.startWorker()
        _ = try await worker.readiness(200)
        var message = TestEvents.message(WorkerFixture.datasetChanged("1", identity: 0, syncCount: 1))
        message.headers = Self.headers + [MessageHeader("uint64", .uint64(7))]
        try await fixture.publish([message])
        #expect(try await fixture.accepted(reachingDevices: 1).map(\.deviceToken) == [TestDevices.token(1)])
        // Its first retry has been through the ladder, the broker's dead-lettering and the worker; this is the second.
        let requeued = try await fixture.take(from: "\(fixture.namespace).retry.1h")
        // RabbitMQ sorts the headers of what it dead-letters, counts how often it has delivered it, and has no type
        // for unsigned numbers of 64 bits: it hands them on as signed ones.
        let own = requeued.headers.filter { !$0.name.hasPrefix(RetryHeader.prefix) && $0.name != "x-delivery-count" }
        let signed = MessageHeader("uint64", .int64(7))
        #expect(own == (Self.headers + [signed]).sorted { $0.name < $1.name })
        #expect(requeued.header(RetryHeader.attempt) == .int64(2))
        #expect(requeued.body == message.body)
        await worker.drainCleanly()
        try await fixture.stop()
    }
}
