import Foundation
import Notifications
import PushTestKit
import Testing

@Suite("Payload builder")
struct PayloadBuilderTests {
    private func payload(_ change: (inout Notifications.Notification) -> Void) -> String {
        var notification = Notifications.Notification()
        change(&notification)
        var builder = PayloadBuilder()
        return String(decoding: builder.payload(of: notification), as: UTF8.self)
    }

    private static let text = Notifications.Notification.LocalizedText(key: "GREETING", arguments: ["Ann", "2"])

    @Test("A body alone makes the alert a plain string")
    func bodyAloneIsAString() {
        #expect(payload { $0.body = "Hello" } == #"{"aps":{"alert":"Hello"}}"#)
    }

    @Test(
        "Each key of aps is written as Apple documents it",
        arguments: [
            (#"{"alert":{"title":"T"}}"#, { @Sendable in $0.title = "T" }),
            (#"{"alert":{"subtitle":"S"}}"#, { $0.subtitle = "S" }),
            (#"{"alert":{"title":"T","body":"B"}}"#, { ($0.title, $0.body) = ("T", "B") }),
            (#"{"alert":{"title-loc-key":"GREETING","title-loc-args":["Ann","2"]}}"#, { $0.localizedTitle = text }),
            (
                #"{"alert":{"subtitle-loc-key":"GREETING","subtitle-loc-args":["Ann","2"]}}"#,
                { $0.localizedSubtitle = text }
            ),
            (#"{"alert":{"loc-key":"GREETING","loc-args":["Ann","2"]}}"#, { $0.localizedBody = text }),
            (#"{"alert":{"loc-key":"K"}}"#, { $0.localizedBody = .init(key: "K") }),
            (#"{"alert":{"action-loc-key":"PLAY"}}"#, { $0.actionLocalizationKey = "PLAY" }),
            (#"{"alert":{"launch-image":"l.png"}}"#, { $0.launchImage = "l.png" }),
            (#"{"badge":0}"#, { $0.badge = 0 }),
            (#"{"sound":"default"}"#, { $0.sound = .named("default") }),
            (
                #"{"sound":{"critical":1,"name":"a.aiff","volume":0.5}}"#,
                { $0.sound = .critical(name: "a.aiff", volume: 0.5) }
            ),
            (#"{"sound":{"critical":1,"name":"a.aiff"}}"#, { $0.sound = .critical(name: "a.aiff", volume: nil) }),
            (#"{"thread-id":"t"}"#, { $0.threadID = "t" }),
            (#"{"category":"c"}"#, { $0.category = "c" }),
            (#"{"content-available":1}"#, { $0.isContentAvailable = true }),
            (#"{"mutable-content":1}"#, { $0.isContentMutable = true }),
            (#"{"target-content-id":"w"}"#, { $0.targetContentID = "w" }),
            (#"{"interruption-level":"time-sensitive"}"#, { $0.interruptionLevel = .timeSensitive }),
            (#"{"relevance-score":0.25}"#, { $0.relevanceScore = 0.25 }),
            (#"{"filter-criteria":"f"}"#, { $0.filterCriteria = "f" }),
            (#"{"stale-date":1700000000}"#, { $0.staleDateSeconds = 1_700_000_000 }),
            (#"{"content-state":{"a":[1]}}"#, { $0.contentState = RawJSON(validated: Array(#"{"a":[1]}"#.utf8)) }),
            (#"{"timestamp":1}"#, { $0.timestampSeconds = 1 }),
            (#"{"event":"update"}"#, { $0.liveActivityEvent = .update }),
            (#"{"dismissal-date":2}"#, { $0.dismissalDateSeconds = 2 }),
            (#"{"attributes-type":"Game"}"#, { $0.attributesType = "Game" }),
            (#"{"attributes":{}}"#, { $0.attributes = RawJSON(validated: Array("{}".utf8)) }),
            (#"{"input-push-channel":"Y2g="}"#, { $0.inputPushChannel = "Y2g=" }),
            (#"{"input-push-token":1}"#, { $0.requestsInputPushToken = true }),
            (#"{"content-changed":true}"#, { $0.isContentChanged = true }),
        ] as [(String, @Sendable (inout Notifications.Notification) -> Void)])
    func eachKeyIsWritten(aps: String, change: @Sendable (inout Notifications.Notification) -> Void) {
        #expect(payload(change) == "{\"aps\":\(aps)}")
    }

    @Test("In a Live Activity localized texts are objects and the sound is a part of the alert")
    func liveActivityAlert() {
        let written = payload {
            $0.liveActivityEvent = .update
            $0.localizedTitle = .init(key: "T", arguments: ["1"])
            $0.body = "B"
            $0.sound = .named("chime")
        }
        let alert = #"{"body":"B","title":{"loc-key":"T","loc-args":["1"]},"sound":"chime"}"#
        #expect(written == #"{"aps":{"alert":\#(alert),"event":"update"}}"#)
    }

    @Test("Keys of the app's own stand beside aps, as they came")
    func customData() {
        let written = payload {
            $0.body = "B"
            $0.customData = [
                CustomDatum(key: "url", value: RawJSON(validated: Array(#"{"deep":[1,null,"x"]}"#.utf8))),
                CustomDatum(key: "n\"1", value: RawJSON(validated: Array("12.50".utf8))),
            ]
        }
        #expect(written == #"{"aps":{"alert":"B"},"url":{"deep":[1,null,"x"]},"n\"1":12.50}"#)
        let alone = payload { $0.customData = [CustomDatum(key: "a", value: RawJSON(validated: [0x31]))] }
        #expect(alone == #"{"a":1}"#)
    }

    @Test("A dataset change carries the keys that the Cognito clients read, the sync count as a string")
    func datasetChange() throws {
        let key = DatasetKey(identityPoolID: "us-east-1:p", identityID: "us-east-1:i", datasetName: "settings")
        var contents = PushContentBuilder(bundleID: "com.example.chat")
        let change = DatasetChange(operation: .changed, key: key, syncCount: 42, deviceID: nil)
        let content = try contents.content(of: change, expirationSeconds: 1_800_000_000)
        let data =
            #"{"source":"cognito-sync","identityPoolId":"us-east-1:p","identityId":"us-east-1:i","#
            + #""datasetName":"settings","syncCount":"42"}"#
        #expect(String(decoding: content.payload, as: UTF8.self) == #"{"aps":{"content-available":1},"data":\#(data)}"#)
        #expect(content.topic == "com.example.chat")
        #expect(content.pushType == .background)
        #expect(content.priority == .conserving)
        #expect(content.expirationSeconds == 1_800_000_000)
        #expect(content.collapseID == DerivedCollapseID.ofDataset(key))

        let deleted = DatasetChange(operation: .deleted, key: key, syncCount: nil, deviceID: nil)
        let without = try contents.content(of: deleted, expirationSeconds: nil)
        #expect(!String(decoding: without.payload, as: UTF8.self).contains("syncCount"))
        #expect(without.collapseID == content.collapseID)
    }

    @Test("A deletion and a merge say so, with or without a sync count; too many merged names are left out")
    func deletionsAndMerges() throws {
        let key = DatasetKey(identityPoolID: "us-east-1:p", identityID: "us-east-1:i", datasetName: "settings")
        var contents = PushContentBuilder(bundleID: "com.example.chat")
        func end(_ operation: DatasetChange.Operation, syncCount: Int64?) throws -> String {
            let change = DatasetChange(operation: operation, key: key, syncCount: syncCount, deviceID: nil)
            let content = try contents.content(of: change, expirationSeconds: nil)
            let payload = String(decoding: content.payload, as: UTF8.self)
            return String(payload[(try #require(payload.range(of: #""settings""#))).upperBound...])
        }
        #expect(try end(.deleted, syncCount: nil) == #","change":"deleted"}}"#)
        #expect(try end(.deleted, syncCount: 7) == #","syncCount":"7","change":"deleted"}}"#)
        let merged = #","change":"merged","mergedDatasetNames":"settings.a,settings.b"}}"#
        #expect(try end(.merged(["settings.a", "settings.b"]), syncCount: nil) == merged)
        let names = (0..<1_000).map { "settings.\($0)" }
        #expect(try end(.merged(names), syncCount: 7) == #","syncCount":"7","change":"merged"}}"#)
    }

    @Test("A payload above the limit of its push type is rejected, one at the limit is not")
    func limitsTheSize() throws {
        var contents = PushContentBuilder(bundleID: "com.example.chat")
        var notification = Notifications.Notification()
        let frame = #"{"aps":{"alert":""}}"#.utf8.count
        notification.body = String(repeating: "x", count: 4_096 - frame)
        #expect(try contents.content(of: notification, options: PushOptions()).payload.count == 4_096)
        notification.body?.append("x")
        #expect(throws: EventRejection.self) { try contents.content(of: notification, options: PushOptions()) }
        let voip = try contents.content(of: notification, options: PushOptions(pushType: .voip))
        #expect(voip.payload.count == 4_097)
    }
}
