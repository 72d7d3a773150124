import Foundation
import Notifications
import PushTestKit
import Testing

@Suite("Messages of FCM")
struct FCMMessageTests {
    private typealias Content = Notifications.Notification

    private static func token(_ text: String, isInstallationID: Bool = false) throws -> DeviceToken {
        try #require(
            DeviceToken(
                text: Array(text.utf8),
                details: isInstallationID ? PushAddressDetails(isInstallationID: true) : nil))
    }

    private static func message(_ content: PushContent, nowSeconds: Int64 = 1_000) throws -> String {
        var buffer = Array("what was there before".utf8)
        FCMMessageWriter.write(content, to: try token("a:b-c_d"), nowSeconds: nowSeconds, into: &buffer)
        #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(buffer)) }
        return String(decoding: buffer, as: UTF8.self)
    }

    private static func message(
        _ options: PushOptions = PushOptions(), _ change: (inout Content) -> Void
    ) throws -> String {
        var notification = Content()
        change(&notification)
        var builder = FCMMessageBuilder()
        return try message(try builder.content(of: notification, options: options))
    }

    @Test(
        "Each member that FCM has something for is written as Google documents it",
        arguments: [
            (
                #""priority":"HIGH","notification":{}},"notification":{"title":"T","body":"B"}}}"#,
                { @Sendable in ($0.title, $0.body) = ("T", "B") }
            ),
            (
                #""priority":"HIGH","notification":{"title_loc_key":"K","title_loc_args":["1"]}}}}"#,
                { $0.localizedTitle = .init(key: "K", arguments: ["1"]) }
            ),
            (
                #""priority":"HIGH","notification":{"body_loc_key":"K"}}}}"#,
                { $0.localizedBody = .init(key: "K") }
            ),
            (#""priority":"HIGH","notification":{"sound":"ping"}}}}"#, { $0.sound = .named("ping") }),
            (
                #""priority":"HIGH","notification":{"sound":"siren"}}}}"#,
                { $0.sound = .critical(name: "siren", volume: 1) }
            ),
            (#""priority":"HIGH","notification":{"notification_count":3}}}}"#, { $0.badge = 3 }),
            (#""priority":"HIGH","notification":{}}}}"#, { $0.badge = 0 }),
            (
                #""priority":"HIGH","notification":{"click_action":"REPLY"}},"notification":{"body":"B"}}}"#,
                { ($0.body, $0.category) = ("B", "REPLY") }
            ),
            (
                #""priority":"HIGH","notification":{"notification_priority":"PRIORITY_HIGH"}},"#
                    + #""notification":{"body":"B"}}}"#,
                { ($0.body, $0.interruptionLevel) = ("B", .timeSensitive) }
            ),
            (
                #""priority":"NORMAL"},"data":{"n":"7","o":"{\"a\":[1,true]}","t":"x"}}}"#,
                {
                    $0.isContentAvailable = true
                    $0.customData = [("n", "7"), ("o", #"{"a":[1,true]}"#), ("t", #""x""#)].map {
                        CustomDatum(key: $0.0, value: RawJSON(validated: Array($0.1.utf8)))
                    }
                }
            ),
        ] as [(String, @Sendable (inout Notifications.Notification) -> Void)])
    func members(end: String, change: @Sendable (inout Notifications.Notification) -> Void) throws {
        #expect(try Self.message(change: change) == #"{"message":{"token":"a:b-c_d","android":{"# + end)
    }

    private static func message(change: (inout Content) -> Void) throws -> String {
        try message(PushOptions(), change)
    }

    @Test("Priority, collapse identifier and expiration are Android's")
    func options() throws {
        let options = PushOptions(priority: .conserving, expirationSeconds: 1_060, collapseID: "score")
        #expect(
            try Self.message(options) { $0.body = "2:1" }
                == #"{"message":{"token":"a:b-c_d","android":{"ttl":"60s","priority":"NORMAL","#
                + #""collapse_key":"score","notification":{"tag":"score"}},"notification":{"body":"2:1"}}}"#)
    }

    @Test(
        "The time to live counts from the moment of sending, and keeps to what FCM takes",
        arguments: [(1_000, "0s"), (999, "0s"), (0, "0s"), (1_001, "1s"), (.max, "2419200s")] as [(Int64, String)])
    func timeToLive(expirationSeconds: Int64, expected: String) throws {
        let text = try Self.message(PushOptions(expirationSeconds: expirationSeconds)) { $0.body = "B" }
        #expect(text.contains(#""ttl":"\#(expected)","#))
    }

    @Test("A change of a dataset is data alone, five texts that Amazon's client reads")
    func dataset() throws {
        let key = DatasetKey(identityPoolID: "eu:pool", identityID: "eu:me", datasetName: "settings")
        let change = DatasetChange(operation: .changed, key: key, syncCount: 7, deviceID: nil)
        var builder = FCMMessageBuilder()
        let text = try Self.message(try builder.content(of: change, expirationSeconds: nil))
        #expect(
            text == #"{"message":{"token":"a:b-c_d","android":{"priority":"NORMAL","collapse_key":""#
                + DerivedCollapseID.ofDataset(key)
                + #""},"data":{"source":"cognito-sync","identityPoolId":"eu:pool","identityId":"eu:me","#
                + #""datasetName":"settings","syncCount":"7"}}}"#)
    }

    @Test("A deletion and a merge of datasets say so in texts")
    func deletionsAndMerges() throws {
        let key = DatasetKey(identityPoolID: "eu:pool", identityID: "eu:me", datasetName: "settings")
        var builder = FCMMessageBuilder()
        func text(_ operation: DatasetChange.Operation) throws -> String {
            let change = DatasetChange(operation: operation, key: key, syncCount: nil, deviceID: nil)
            return try Self.message(try builder.content(of: change, expirationSeconds: nil))
        }
        #expect(try text(.deleted).hasSuffix(#""datasetName":"settings","change":"deleted"}}}"#))
        #expect(try text(.merged(["a", "b"])).hasSuffix(#""change":"merged","mergedDatasetNames":"a,b"}}}"#))
    }

    @Test("An installation ID is the target fid, and no character of a target ends it")
    func targets() throws {
        var builder = FCMMessageBuilder()
        var notification = Content()
        notification.body = "B"
        let content = try builder.content(of: notification, options: PushOptions())
        var buffer: [UInt8] = []
        FCMMessageWriter.write(
            content, to: try Self.token("cFid", isInstallationID: true), nowSeconds: 0, into: &buffer)
        #expect(String(decoding: buffer, as: UTF8.self).hasPrefix(#"{"message":{"fid":"cFid","android":{"#))
        let odd = #"a"},"b\"#
        FCMMessageWriter.write(content, to: try Self.token(odd), nowSeconds: 0, into: &buffer)
        let object = try JSONSerialization.jsonObject(with: Data(buffer)) as? [String: [String: Any]]
        #expect(object?["message"]?["token"] as? String == odd)
    }

    @Test(
        "Keys that FCM reserves are refused by name", arguments: ["from", "message_type", "google.x", "gcm.y", "gcm"])
    func reserved(key: String) throws {
        #expect {
            try Self.message(PushOptions()) {
                $0.customData = [CustomDatum(key: key, value: RawJSON(validated: Array("1".utf8)))]
            }
        } throws: { error in
            (error as? EventRejection)?.reason == .invalidNotification && "\(error)".contains(key)
        }
    }

    @Test("Keys and values of 4096 bytes pass, one more is refused")
    func size() throws {
        func send(_ count: Int) throws {
            _ = try Self.message(PushOptions()) { $0.body = String(repeating: "x", count: count) }
        }
        try send(4_092)
        #expect(throws: EventRejection.self) { try send(4_093) }
    }

    @Test("A push type that only Apple has is refused", arguments: [PushType.liveactivity, .voip, .widgets, .mdm])
    func appleOnly(pushType: PushType) throws {
        #expect(throws: EventRejection.self) {
            try Self.message(PushOptions(pushType: pushType)) { $0.body = "B" }
        }
    }
}
