import ChangeEvents
import Dispatcher
import Essentials
import Messages
import Notifications
import PushTestKit
import RegistryCore
import RegistrySQL
import SQLiteRegistry
import Testing

@Suite("Names that look the same and have other bytes, in the pipeline", .timeLimit(.minutes(10)))
struct LookalikePipelineTests {
    /// The letter é as one scalar and as two.
    private static let composed = "\u{e9}"
    private static let decomposed = "e\u{301}"

    private func record(_ identifier: String, type: String = "Song", _ extra: String = "") -> Message {
        message(
            identifier, "record.created",
            #"{"recordType":"\#(type)","recordName":"r1","fields":{"title":"x"}\#(extra)}"#)
    }

    private func push(_ identifier: String, _ target: String) -> Message {
        message(identifier, "push.requested", #"{"app":"chat",\#(target),"notification":{"body":"b"}}"#)
    }

    private func message(_ identifier: String, _ type: String, _ data: String) -> Message {
        TestEvents.message(TestEvents.event(identifier, "com.example.\(type)", data))
    }

    /// One device of each user, called as the user is.
    private func bench() throws -> PipelineBench {
        let bench = try PipelineBench(transport: FakeTransport())
        try bench.registry().register(
            try [Self.composed, Self.decomposed].map { name in
                let device = Device(
                    deviceID: name, platform: .apns, token: try #require(DeviceToken(bytes: Array(name.utf8))),
                    app: "chat", userID: name, registeredAtMilliseconds: 0)
                return DeviceRegistration(device: device, topics: [name])
            })
        return bench
    }

    private func subscription(
        _ identifier: String, user: String, _ change: (inout RecordSubscription) -> Void = { _ in }
    ) -> RecordSubscription {
        var subscription = RecordSubscription(
            key: SubscriptionKey(app: "chat", owner: .user(user), subscriptionID: identifier), recordType: "Song",
            savedAtMilliseconds: 0)
        subscription.notification.alertBody = "b"
        change(&subscription)
        return subscription
    }

    /// The names of the devices that were pushed to, each as its bytes.
    private func served(_ bench: PipelineBench, after messages: Message...) async -> [ByteText] {
        bench.broker.deliver(messages)
        await bench.broker.wait { $0.settledTags.count == messages.count }
        return bench.transport.requests.map { ByteText(String(decoding: $0.token.bytes, as: UTF8.self)) }.sorted()
    }

    @Test("A record in one user's private database is told to no user with a lookalike name")
    func owners() async throws {
        let bench = try bench()
        _ = try bench.registry().save(
            [Self.composed, Self.decomposed].map { user in subscription("s", user: user) { $0.database = .private } })
        let event = record("1", #","database":"private","ownerId":"\#(Self.composed)""#)
        #expect(await served(bench, after: event) == [ByteText(Self.composed)])
        bench.stop()
    }

    @Test("Zones and types of records that are called alike are others")
    func zonesAndTypes() async throws {
        let bench = try bench()
        _ = try bench.registry().save([
            subscription("s", user: Self.composed) { $0.zoneName = Self.composed },
            subscription("s", user: Self.decomposed) { $0.zoneName = Self.decomposed },
            subscription("t", user: Self.composed) { $0.recordType = Self.composed },
            subscription("t", user: Self.decomposed) { $0.recordType = Self.decomposed },
        ])
        let zone = record("1", #","app":"chat","zoneName":"\#(Self.composed)""#)
        // The remembered data of the one type must not be taken for that of the other.
        let type = record("2", type: Self.decomposed, #","app":"chat""#)
        let other = record("3", type: Self.composed, #","app":"chat""#)
        #expect(
            await served(bench, after: zone, type, other)
                == [ByteText(Self.decomposed), ByteText(Self.composed), ByteText(Self.composed)])
        bench.stop()
    }

    @Test("Two devices that are called alike both get a silent push, and the badge of each is its own")
    func silentPushes() async throws {
        let bench = try bench()
        try bench.registry().upsert([
            Device(
                deviceID: Self.decomposed, platform: .apns,
                token: try #require(DeviceToken(bytes: Array(Self.decomposed.utf8))), app: "chat",
                userID: Self.composed, registeredAtMilliseconds: 1)
        ])
        _ = try bench.registry().save([
            subscription("silent", user: Self.composed) { silent in
                silent.notification = NotificationInfo()
                silent.notification.shouldSendContentAvailable = true
            },
            subscription("loud", user: Self.composed) { $0.notification.shouldBadge = true },
        ])
        _ = try bench.registry().setBadge(6, of: Self.composed)
        let both = [ByteText(Self.decomposed), ByteText(Self.composed)]
        #expect(await served(bench, after: record("1")) == both.flatMap { [$0, $0] })
        let badges = bench.transport.requests.compactMap { request -> String? in
            let payload = String(decoding: request.content.payload, as: UTF8.self)
            return payload.firstMatch(of: /"badge":(\d+)/).map { String($0.1) }
        }
        #expect(badges.sorted() == ["1", "7"])
        bench.stop()
    }

    @Test("Users, devices and topics of a push are those of its bytes, and the origin of a change is")
    func audiences() async throws {
        for target in [
            #""userIds":["\#(Self.composed)"]"#, #""deviceIds":["\#(Self.composed)"]"#,
            #""topic":"\#(Self.composed)""#,
        ] {
            let bench = try bench()
            #expect(await served(bench, after: push("1", target)) == [ByteText(Self.composed)], "\(target)")
            bench.stop()
        }
        let bench = try bench()
        let both = #""userIds":["\#(Self.composed)","\#(Self.decomposed)"]"#
        #expect(await served(bench, after: push("1", both)).count == 2)
        bench.stop()
    }

    @Test("The device that made a change is left out, and not one that is called alike")
    func origin() async throws {
        let bench = try bench()
        _ = try bench.registry().save([
            subscription("s", user: Self.composed), subscription("s", user: Self.decomposed),
        ])
        let event = record("1", #","deviceId":"\#(Self.composed)""#)
        #expect(await served(bench, after: event) == [ByteText(Self.decomposed)])
        bench.stop()
    }

    @Test(
        "A control character in a name makes the event a dead letter that says so, and in a text it does not",
        arguments: ["\\n", "\\u0000", "\\u007f", "\\u0085"])
    func controlCharacters(_ control: String) async throws {
        let bench = try bench()
        let bad = [
            record("1", type: "a\(control)"), record("2", #","zoneName":"\#(control)""#),
            record("3", #","ownerId":"a\#(control)b""#), record("4", #","deviceId":"\#(control)""#),
            push("5", #""userIds":["\#(control)"]"#), push("6", #""topic":"\#(control)""#),
            push("7\(control)", #""userIds":["a"]"#),
            message("8", "record.created", #"{"recordType":"T","recordName":"\#(control)","fields":{}}"#),
        ]
        bench.broker.deliver(bad)
        await bench.broker.wait {
            $0.requeued(in: "apus.dead-letter").count == bad.count && $0.unacknowledgedCount == 0
        }
        for letter in bench.broker.requeued(in: "apus.dead-letter") {
            let detail = letter.headers.first { $0.name == RetryHeader.detail }
            guard case .string(let text)? = detail?.value else { continue }
            #expect(text.contains("without control characters"), "\(text)")
            #expect(text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
        }
        let fine = message(
            "9", "record.created", #"{"recordType":"T","recordName":"r","fields":{"title":"a\n\#(control)"}}"#)
        bench.broker.deliver([fine])
        await bench.broker.wait { $0.settledTags.count == bad.count + 1 }
        #expect(bench.broker.requeued(in: "apus.dead-letter").count == bad.count)
        bench.stop()
    }
}
