import FCM
import FCMSimulator
import Testing

@Suite("FCM message: every item, against the simulator's rules")
struct FCMMessageTests {
    /// Sends one message and gives what the simulator received.
    private func received(_ message: FCMMessage) async throws -> (record: RecordedMessage, payload: String) {
        let service = try await MessagingService()
        let client = try service.client()
        let result = try await client.send(message, to: try MessagingService.token(1))
        #expect(result.isAccepted, "\(result.outcome)")
        let record = try #require(try await service.simulator.recorded().first)
        await client.close()
        try await service.simulator.stop()
        return (record, String(decoding: record.payload, as: UTF8.self))
    }

    private static func error(_ body: () throws -> Void) -> PushError? {
        do {
            try body()
            return nil
        } catch { return error as? PushError }
    }

    @Test("Each item stands under FCM's name")
    func writesItems() async throws {
        let message = try FCMMessage(
            [
                .title("t"), .localizedTitle(key: "T", arguments: ["1"]), .body("b"), .localizedBody(key: "B"),
                .image("https://example.com/i.png"), .channel("c"), .icon("i"), .color("#1a73E8"), .sound("default"),
                .tag("tag"), .clickAction("OPEN"), .count(3), .data("room", "7"), .data("room", "8"),
                .member("android.direct_boot_ok", true), .member("apns.payload", ["aps": ["badge": 2]]),
                .member("android.notification.visibility", "PRIVATE"),
            ], timeToLive: .seconds(60), collapseKey: "room-7")
        // The time to live is counted when the message is sent.
        let payload = try await received(message).payload.replacing(/"ttl":"[1-5]?[0-9]s"/, with: #""ttl":"60s""#)
        #expect(
            payload
                == #"{"message":{"token":"0001:APA91bF-token","android":{"ttl":"60s","priority":"HIGH","#
                + #""collapse_key":"room-7","notification":{"title_loc_key":"T","title_loc_args":["1"],"#
                + ##""body_loc_key":"B","channel_id":"c","icon":"i","color":"#1a73E8","sound":"default","tag":"tag","##
                + #""click_action":"OPEN","notification_count":3,"visibility":"PRIVATE"},"direct_boot_ok":true},"#
                + #""notification":{"title":"t","body":"b","image":"https://example.com/i.png"},"#
                + #""data":{"room":"8"},"apns":{"payload":{"aps":{"badge":2}}}}}"#)
    }

    @Test("Data alone is of normal priority, and is kept for four weeks unless a time to live says otherwise")
    func choosesOptions() async throws {
        let silent = try await received(try FCMMessage([.data("changed", "notes")])).record
        #expect(silent.priority == "NORMAL" && silent.ttl == nil && silent.collapseKey == nil)
        #expect(silent.data == ["changed": "notes"] && silent.notification == nil)
        let urgent = try await received(try FCMMessage([.data("call", "1")], priority: .high, timeToLive: .zero)).record
        #expect(urgent.priority == "HIGH" && urgent.ttl == "0s")
    }

    @Test("The size counts keys and values as FCM does: 4,096 bytes go, one more does not")
    func limitsSize() async throws {
        let body = String(repeating: "é", count: 2_000)
        let largest = try FCMMessage([.body(body), .data("key", String(repeating: "x", count: 4_096 - 4_004 - 3))])
        #expect(try await received(largest).record.status == 200)
        let error = Self.error {
            _ = try FCMMessage([.body(body), .data("key", String(repeating: "x", count: 4_096 - 4_004 - 2))])
        }
        #expect(error?.code == .messageInvalid && error?.message.contains("4097 bytes") == true)
        let apple = Self.error {
            _ = try FCMMessage([.member("apns.payload", ["x": String(repeating: "x", count: 4_096)])])
        }
        #expect(apple?.code == .messageInvalid)
    }

    @Test("Messages that break a rule of FCM's are refused when they are made, and say which")
    func refusesMessages() {
        struct Unencodable: Encodable, Sendable {
            func encode(to encoder: any Encoder) throws {
                throw EncodingError.invalidValue(self, .init(codingPath: [], debugDescription: "never"))
            }
        }
        let attempts: [(String, () throws -> FCMMessage)] = [
            ("says nothing", { try FCMMessage([]) }), ("reserves", { try FCMMessage([.data("from", "x")]) }),
            ("reserves", { try FCMMessage([.data("google.x", "x")]) }),
            ("#1A73E8", { try FCMMessage([.body("b"), .color("red")]) }),
            ("four weeks", { try FCMMessage([.body("b")], timeToLive: .seconds(2_419_201)) }),
            ("four weeks", { try FCMMessage([.body("b")], timeToLive: .seconds(-1)) }),
            ("encoded as JSON", { try FCMMessage([.member("apns.payload", Unencodable())]) }),
            ("target of the call", { try FCMMessage([.member("token", "x")]) }),
            ("timeToLive", { try FCMMessage([.body("b"), .member("android.ttl", "3s")]) }),
            ("item data", { try FCMMessage([.member("data.room", 7)]) }),
            ("excludes it", { try FCMMessage([.member("android_v2", [1])]) }),
            ("empty name", { try FCMMessage([.member("apns.", 1)]) }),
            ("not both", { try FCMMessage([.member("apns.payload", [1]), .member("apns.payload.aps", 1)]) }),
        ]
        for (index, (words, attempt)) in attempts.enumerated() {
            let error = Self.error { _ = try attempt() }
            #expect(error?.code == .messageInvalid, "case \(index)")
            #expect(error?.message.contains(words) == true, "case \(index): \(error?.message ?? "nothing thrown")")
        }
    }
}
