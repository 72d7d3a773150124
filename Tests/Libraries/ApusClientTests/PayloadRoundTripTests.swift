import ApusClient
import ChangeEvents
import Foundation
import Notifications
import Predicates
import PushTestKit
import RegistryCore
import Testing

@Suite("Payloads that the worker renders are decoded as what they say")
struct PayloadRoundTripTests {
    private static let dataset = DatasetName(
        identityPoolID: RenderedPush.key.identityPoolID, identityID: RenderedPush.key.identityID, name: "settings")

    @Test("Changes, deletions and merges of datasets", arguments: [PushService.apns, .fcm, .adm, .courier])
    func datasets(service: PushService) throws {
        func event(_ operation: DatasetChange.Operation, _ syncCount: Int64?) throws -> PushEvent {
            let payload = try PushPayload(json: RenderedPush.dataset(operation, syncCount: syncCount, to: service))
            #expect(payload.problems.isEmpty && payload.shown == nil)
            return payload.event
        }
        let push = DatasetPush(dataset: Self.dataset, syncCount: .max)
        #expect(try event(.changed, .max) == .datasetChanged(push))
        #expect(try event(.deleted, .max) == .datasetDeleted(push))
        let unnumbered = DatasetPush(dataset: Self.dataset, syncCount: nil)
        #expect(try event(.deleted, nil) == .datasetDeleted(unnumbered))
        let names = ["settings.us-east-1:2d1f", "a.b"]
        #expect(
            try event(.merged(names), 0)
                == .datasetsMerged(DatasetPush(dataset: Self.dataset, syncCount: 0), mergedDatasetNames: names))
        let many = (0..<1_000).map { "settings.\($0)" }
        #expect(try event(.merged(many), nil) == .datasetsMerged(unnumbered, mergedDatasetNames: []))
    }

    private static func change(_ operation: RecordChange.Operation) -> RecordChange {
        RecordChange(
            operation: operation, recordType: "Song", recordName: "song-1",
            fields: RecordFields([
                ("title", .of("Dear")), ("price", .double(12.5)), ("count", .integer(-7)), ("live", .boolean(true)),
            ]),
            zoneName: "Music", database: .private, ownerID: "anna")
    }

    @Test(
        "A record's creation, update and deletion, with what the subscription asked for",
        arguments: [
            PushService.apns, .fcm, .adm,
        ])
    func records(service: PushService) throws {
        var info = NotificationInfo()
        info.title = "{title}"
        info.additionalFields = ["title", "count", "live"]
        for operation in RecordChange.Operation.allCases {
            let json = try RenderedPush.record(Self.change(operation), info, to: service)
            let payload = try PushPayload(json: json)
            #expect(payload.problems.isEmpty)
            let push: RecordPush? =
                switch (payload.event, operation) {
                case (.recordCreated(let push), .created), (.recordUpdated(let push), .updated),
                    (.recordDeleted(let push), .deleted):
                    push
                default: nil
                }
            let record = try #require(push, "\(payload.event)")
            #expect(record.recordName == "song-1" && record.zoneName == "Music" && record.zoneOwnerName == "anna")
            #expect(record.fields == ["title": .text("Dear"), "count": .integer(-7), "live": .boolean(true)])
            #expect(record.subscription.subscriptionID == "songs" && record.subscription.databaseScope == .private)
            #expect(record.subscription.ownerName == "anna" && !record.subscription.isPruned)
            #expect(record.subscription.containerID == "iCloud.com.example.chat")
            #expect(record.subscription.notificationID == EventDigest(source: "s", identifier: "1").uuid)
            if service == .apns { #expect(payload.shown?.title == "Dear") }
        }
    }

    @Test("Zones, databases, and subscriptions of a device")
    func zonesAndDatabases() throws {
        let zone = try PushPayload(
            json: RenderedPush.record(Self.change(.updated), kind: .zone, NotificationInfo()))
        guard case .zoneChanged(let inZone) = zone.event else {
            Issue.record("\(zone.event)")
            return
        }
        #expect(inZone.zoneName == "Music" && inZone.zoneOwnerName == "anna" && zone.shown == nil)
        let database = try PushPayload(
            json: RenderedPush.record(Self.change(.updated), kind: .database, owner: .device("d1"), NotificationInfo()))
        guard case .databaseChanged(let inDatabase) = database.event else {
            Issue.record("\(database.event)")
            return
        }
        #expect(inDatabase.zoneName == nil && inDatabase.subscription.ownerName == nil)
        #expect(inDatabase.subscription.databaseScope == .private)
    }

    @Test("A push that was too long says so, and is decoded all the same")
    func pruned() throws {
        var change = Self.change(.created)
        change.fields["title"] = .of(String(repeating: "long ", count: 2_000))
        var info = RenderedPush.info
        info.additionalFields = ["title"]
        let payload = try PushPayload(json: RenderedPush.record(change, info))
        guard case .recordCreated(let push) = payload.event else {
            Issue.record("\(payload.event)")
            return
        }
        #expect(push.subscription.isPruned && push.recordName == "song-1" && push.fields.isEmpty)
        #expect(payload.shown?.body?.hasPrefix("New: long") == true)
    }

    @Test("Records, subscriptions and texts at random come back as they were")
    func randomRecords() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let pieces = ["x", "\u{1}", "\"", "\\", "é", "漢", "👩‍👩‍👧‍👦", "{title}", "{", " ", "\u{2028}", "ck", "1"]
        func text(_ count: Int) -> String {
            (0..<Int.random(in: 1...count, using: &generator))
                .map { _ in pieces.randomElement(using: &generator) ?? "x" }.joined()
        }
        for round in 0..<500 {
            let number = Int64.random(in: .min ... .max, using: &generator)
            let double = Double.random(in: -1e9...1e9, using: &generator)
            let title = text(12)
            let name = text(20)
            let subscriptionID = text(20)
            let change = RecordChange(
                operation: .updated, recordType: "Song", recordName: name,
                fields: RecordFields([("title", .of(title)), ("n", .integer(number)), ("d", .double(double))]))
            var info = NotificationInfo()
            info.additionalFields = ["title", "n", "d"]
            let json = try RenderedPush.record(change, subscriptionID: subscriptionID, info)
            let payload = try PushPayload(json: json)
            guard case .recordUpdated(let push) = payload.event else {
                Issue.record("seed \(seed), round \(round): \(payload.event)")
                return
            }
            #expect(push.recordName == name && push.subscription.subscriptionID == subscriptionID, "seed \(seed)")
            #expect(push.fields["title"]?.text == title && push.fields["n"]?.integer == number, "seed \(seed)")
            #expect(push.fields["d"]?.number == double && payload.problems.isEmpty, "seed \(seed)")
        }
    }

    @Test("A requested push has its texts and the app's own members, typed if the app likes")
    func requested() throws {
        struct ChatMessage: Decodable, Equatable { var room: Int, sender: String, links: [String: String]? }
        var notification = Notifications.Notification()
        notification.title = "Mei Chen"
        notification.body = "Are you there?"
        notification.localizedSubtitle = .init(key: "IN_ROOM", arguments: ["7"])
        notification.badge = 3
        notification.sound = .critical(name: "ping.caf", volume: 0.5)
        notification.threadID = "room-7"
        notification.customData = [
            CustomDatum(key: "room", value: RawJSON(validated: Array("7".utf8))),
            CustomDatum(key: "sender", value: RawJSON(validated: Array(#""mei""#.utf8))),
        ]
        let payload = try PushPayload(json: RenderedPush.notification(notification))
        guard case .message(let shown, let data) = payload.event else {
            Issue.record("\(payload.event)")
            return
        }
        #expect(shown == payload.shown && shown.title == "Mei Chen" && shown.body == "Are you there?")
        #expect(shown.localizedSubtitle?.key == "IN_ROOM" && shown.localizedSubtitle?.arguments == ["7"])
        #expect(shown.badge == 3 && shown.soundName == "ping.caf" && shown.threadID == "room-7")
        #expect(data == ["room": .integer(7), "sender": .text("mei")])
        #expect(try data.decoded(as: ChatMessage.self) == ChatMessage(room: 7, sender: "mei", links: nil))
        notification = Notifications.Notification()
        notification.isContentAvailable = true
        notification.customData = [CustomDatum(key: "revision", value: RawJSON(validated: Array("null".utf8)))]
        let silent = try PushPayload(json: RenderedPush.notification(notification))
        #expect(silent.event == .data(["revision": .null]) && silent.shown == nil)
    }
}
