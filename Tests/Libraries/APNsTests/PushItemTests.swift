import APNs
import APNsSimulator
import FoundationEssentials
import Testing

@Suite("Push message: every item, against the simulator's rules")
struct PushItemTests {
    private static func second(_ number: Double) -> Date { Date(timeIntervalSince1970: number) }

    /// Sends one message and gives what the simulator received.
    private func received(_ message: PushMessage) async throws -> (push: RecordedPush, payload: String) {
        let service = try await PushService()
        let client = try service.client()
        let result = try await client.send(message, to: try PushService.token(1))
        #expect(result.isAccepted, "\(result.outcome)")
        let push = try #require(try await service.simulator.recorded().first)
        await client.close()
        _ = try await service.simulator.stop()
        return (push, String(decoding: push.payload, as: UTF8.self))
    }

    @Test("Each item of an alert stands under Apple's key")
    func writesAlerts() async throws {
        let texts = try PushMessage([
            .title("t"), .subtitle("s"), .body("b"), .action(localizationKey: "act"), .launchImage("l.png"), .badge(0),
            .sound("ping.caf"), .mutableContent, .category("c"), .threadID("th"), .interruptionLevel(.timeSensitive),
            .relevanceScore(0.5), .targetContentID("w"), .filterCriteria("f"), .custom("list", [1, 2]),
            .custom("list", [3]), .custom("text", "x"),
        ])
        let expected =
            #"{"aps":{"alert":{"title":"t","subtitle":"s","body":"b","action-loc-key":"act","launch-image":"l.png"},"#
            + #""badge":0,"sound":"ping.caf","thread-id":"th","category":"c","interruption-level":"time-sensitive","#
            + #""relevance-score":0.5,"filter-criteria":"f","mutable-content":1,"target-content-id":"w"},"list":[3],"#
            + #""text":"x"}"#
        #expect(try await received(texts).payload == expected)
        let localized = try PushMessage([
            .localizedTitle(key: "T", arguments: ["1"]), .localizedSubtitle(key: "S"),
            .localizedBody(key: "B", arguments: ["2", "3"]), .criticalSound("alarm", volume: 0.25),
        ])
        #expect(
            try await received(localized).payload
                == #"{"aps":{"alert":{"title-loc-key":"T","title-loc-args":["1"],"subtitle-loc-key":"S","loc-key":"B","#
                + #""loc-args":["2","3"]},"sound":{"critical":1,"name":"alarm","volume":0.25}}}"#)
    }

    @Test("A silent push, a widget and a Live Activity have their types, topics and priorities")
    func choosesKinds() async throws {
        let silent = try await received(try PushMessage([.contentAvailable, .custom("since", 7)]))
        #expect(silent.push.pushType == "background" && silent.push.priority == "5")
        #expect(silent.payload == #"{"aps":{"content-available":1},"since":7}"#)
        let widget = try await received(try PushMessage([.contentChanged]))
        #expect(widget.push.pushType == "widgets" && widget.push.topic == "com.example.chat.push-type.widgets")
        struct Score: Encodable, Sendable { var home = 1 }
        let steps: [(LiveActivityStep, String)] = [
            (
                .start(
                    attributesType: "Match", attributes: ["name": "A–B"], contentState: Score(),
                    timestamp: Self.second(10),
                    staleDate: Self.second(20)), #""event":"start""#
            ), (.update(contentState: Score(), timestamp: Self.second(11)), #""content-state":{"home":1}"#),
            (
                .end(contentState: Score(), timestamp: Self.second(12), dismissalDate: Self.second(13)),
                #""dismissal-date":13"#
            ),
            (.end(timestamp: Self.second(12)), #""event":"end""#),
        ]
        for (step, fragment) in steps {
            let activity = try await received(
                try PushMessage([.liveActivity(step), .title("Match"), .body("It begins")], expiration: .immediately))
            #expect(activity.push.pushType == "liveactivity")
            #expect(activity.push.topic == "com.example.chat.push-type.liveactivity")
            #expect(activity.payload.contains(fragment), "\(activity.payload)")
        }
    }

    @Test("Expirations are absolute on the wire, whatever they were given as")
    func writesExpirations() async throws {
        let expirations: [(PushExpiration, (Int64?) -> Bool)] = [
            (.none, { $0 == nil }), (.immediately, { $0 == 0 }),
            (.at(Self.second(1_900_000_000)), { $0 == 1_900_000_000 }),
            (.after(.seconds(3_600)), { ($0 ?? 0) > 1_700_000_000 }),
        ]
        for (expiration, isRight) in expirations {
            let push = try await received(try PushMessage([.body("Hello")], expiration: expiration)).push
            #expect(isRight(push.expiration.flatMap { Int64($0) }), "\(expiration): \(push.expiration ?? "none")")
        }
    }

    @Test("Each kind that is asked for is sent as such", arguments: [PushKind.voip, .complication, .location, .mdm])
    func sendsKinds(_ kind: PushKind) async throws {
        let push = try await received(try PushMessage([.body("Hello")], kind: kind)).push
        #expect(push.pushType == kind.rawValue)
    }
}
