import Foundation
import Notifications
import Testing

@Suite("Messages of ADM")
struct ADMMessageTests {
    private typealias Content = Notifications.Notification

    private static func message(_ content: PushContent, nowSeconds: Int64 = 1_000) throws -> String {
        var buffer = Array("what was there before".utf8)
        ADMMessageWriter.write(content, nowSeconds: nowSeconds, into: &buffer)
        #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(buffer)) }
        return String(decoding: buffer, as: UTF8.self)
    }

    private static func message(
        _ options: PushOptions = PushOptions(), _ change: (inout Content) -> Void
    ) throws -> String {
        var notification = Content()
        change(&notification)
        var builder = ADMMessageBuilder()
        return try message(try builder.content(of: notification, options: options))
    }

    @Test(
        "Each member that an app may want is a text in the data, under its own name",
        arguments: [
            (#"{"data":{"title":"T","body":"B"}}"#, { @Sendable in ($0.title, $0.body) = ("T", "B") }),
            (#"{"data":{"subtitle":"S"}}"#, { $0.subtitle = "S" }),
            (
                #"{"data":{"titleLocKey":"K","titleLocArgs":"[\"1\",\"\\\"\"]"}}"#,
                { $0.localizedTitle = .init(key: "K", arguments: ["1", "\""]) }
            ),
            (#"{"data":{"locKey":"K"}}"#, { $0.localizedBody = .init(key: "K") }),
            (#"{"data":{"sound":"ping"}}"#, { $0.sound = .named("ping") }),
            (#"{"data":{"sound":"siren"}}"#, { $0.sound = .critical(name: "siren", volume: 1) }),
            (#"{"data":{"badge":"0"}}"#, { $0.badge = 0 }),
            (#"{"data":{"category":"REPLY","threadId":"4"}}"#, { ($0.category, $0.threadID) = ("REPLY", "4") }),
            (#"{"data":{"interruptionLevel":"time-sensitive"}}"#, { $0.interruptionLevel = .timeSensitive }),
            (#"{"data":{}}"#, { $0.isContentAvailable = true }),
            (
                #"{"data":{"text":"a\nb","number":"7","list":"[1,\"2\"]"}}"#,
                {
                    $0.customData = [
                        CustomDatum(key: "text", value: RawJSON(validated: Array(#""a\nb""#.utf8))),
                        CustomDatum(key: "number", value: RawJSON(validated: Array("7".utf8))),
                        CustomDatum(key: "list", value: RawJSON(validated: Array(#"[1,"2"]"#.utf8))),
                    ]
                }
            ),
        ] as [(String, @Sendable (inout Notifications.Notification) -> Void)])
    func members(expected: String, change: @Sendable (inout Notifications.Notification) -> Void) throws {
        #expect(try Self.message(PushOptions(), change) == expected)
    }

    @Test("The collapse identifier is the consolidation key")
    func consolidationKey() throws {
        let message = try Self.message(PushOptions(collapseID: "score")) { $0.body = "B" }
        #expect(message == #"{"consolidationKey":"score","data":{"body":"B"}}"#)
    }

    @Test(
        "The time that is left is counted when the message is sent, within ADM's range",
        arguments: [
            (1_000, 1_000, 60), (1_000, 0, 60), (1_000, 1_059, 60), (1_000, 1_061, 61), (1_000, 4_600, 3_600),
            (1_000, 9_999_999, 2_678_400), (-2, Int64.max, 2_678_400), (2, Int64.min, 60),
        ] as [(Int64, Int64, Int64)])
    func expiresAfter(now: Int64, expiration: Int64, seconds: Int64) throws {
        var builder = ADMMessageBuilder()
        var notification = Content()
        notification.body = "B"
        let content = try builder.content(of: notification, options: PushOptions(expirationSeconds: expiration))
        let message = try Self.message(content, nowSeconds: now)
        #expect(message == #"{"expiresAfter":\#(seconds),"data":{"body":"B"}}"#)
    }

    @Test("A dataset's change is the five texts that the client for Android reads, and replaces the one before")
    func dataset() throws {
        let key = DatasetKey(identityPoolID: "us-east-1:p", identityID: "us-east-1:i", datasetName: "notes")
        var builder = ADMMessageBuilder()
        let content = try builder.content(
            of: DatasetChange(operation: .changed, key: key, syncCount: 7, deviceID: nil), expirationSeconds: 1_500)
        let collapseID = DerivedCollapseID.ofDataset(key)
        #expect(
            try Self.message(content) == #"{"expiresAfter":500,"consolidationKey":"\#(collapseID)","#
                + #""data":{"source":"cognito-sync","identityPoolId":"us-east-1:p","identityId":"us-east-1:i","#
                + #""datasetName":"notes","syncCount":"7"}}"#)
        #expect(collapseID.utf8.count <= 64)
        #expect(content.pushType == .background)
    }

    @Test("Data of 6144 bytes are taken, and one more is refused")
    func size() throws {
        let frame = #"{"body":""}"#.utf8.count
        #expect(throws: Never.self) { try Self.message { $0.body = String(repeating: "x", count: 6_144 - frame) } }
        #expect {
            try Self.message { $0.body = String(repeating: "x", count: 6_145 - frame) }
        } throws: { error in
            (error as? EventRejection)?.reason == .invalidNotification && "\(error)".contains("6145")
        }
    }

    @Test("A key of the app that the notification has itself is refused, and any other is not")
    func reserved() throws {
        let datum = CustomDatum(key: "title", value: RawJSON(validated: Array("1".utf8)))
        #expect {
            try Self.message { ($0.title, $0.customData) = ("T", [datum]) }
        } throws: { error in
            (error as? EventRejection)?.reason == .invalidNotification && "\(error)".contains("\"title\"")
        }
        #expect(
            try Self.message { ($0.body, $0.customData) = ("B", [datum]) } == #"{"data":{"body":"B","title":"1"}}"#)
    }

    @Test("Push types that only Apple has are refused", arguments: [PushType.voip, .liveactivity, .mdm])
    func pushTypes(_ type: PushType) {
        #expect(throws: EventRejection.self) { try Self.message(PushOptions(pushType: type)) { $0.body = "B" } }
    }
}
