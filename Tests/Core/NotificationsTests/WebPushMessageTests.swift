import Foundation
import Notifications
import PushTestKit
import Testing

@Suite("Messages for browsers")
struct WebPushMessageTests {
    private typealias Content = Notifications.Notification

    private static func message(
        _ options: PushOptions = PushOptions(), _ change: (inout Content) -> Void
    ) throws -> PushContent {
        var notification = Content()
        change(&notification)
        var builder = WebPushMessageBuilder()
        let content = try builder.content(of: notification, options: options)
        #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(content.payload)) }
        return content
    }

    @Test(
        "Each member that Web Push has something for is written under its name",
        arguments: [
            (#"{"notification":{"title":"T","body":"B"}}"#, { @Sendable in ($0.title, $0.body) = ("T", "B") }),
            (
                #"{"web_push":8030,"notification":{"title":"T","navigate":"https://a.example/"},"#
                    + #""data":{"navigate":"https://a.example/"}}"#,
                {
                    $0.title = "T"
                    $0.customData = [datum("navigate", #""https://a.example/""#)]
                }
            ),
            (
                #"{"notification":{"body":"B","navigate":"/","image":"/i","icon":"/c"},"#
                    + #""data":{"navigate":"/","image":"/i","icon":"/c","n":7}}"#,
                {
                    $0.body = "B"
                    $0.customData = [
                        datum("navigate", #""/""#), datum("image", #""/i""#), datum("icon", #""/c""#), datum("n", "7"),
                    ]
                }
            ),
            (
                #"{"notification":{"title":"T"},"data":{"navigate":5}}"#,
                {
                    $0.title = "T"
                    $0.customData = [datum("navigate", "5")]
                }
            ),
            (#"{"notification":{},"app_badge":0}"#, { $0.badge = 0 }),
            (
                #"{"notification":{"body":"B"},"mutable":true}"#,
                { ($0.body, $0.isContentMutable) = ("B", true) }
            ),
            (
                #"{"notification":{"body":"B","silent":true}}"#,
                { ($0.body, $0.interruptionLevel) = ("B", .passive) }
            ),
            (
                #"{"notification":{"body":"B","requireInteraction":true}}"#,
                { ($0.body, $0.interruptionLevel) = ("B", .timeSensitive) }
            ),
            (
                #"{"notification":{"subtitle":"S","titleLocKey":"K","titleLocArgs":["1"],"locKey":"L","#
                    + #""threadId":"t","category":"c"}}"#,
                {
                    ($0.subtitle, $0.threadID, $0.category) = ("S", "t", "c")
                    $0.localizedTitle = .init(key: "K", arguments: ["1"])
                    $0.localizedBody = .init(key: "L")
                }
            ),
            (
                #"{"data":{"a":[1,true]}}"#,
                {
                    $0.isContentAvailable = true
                    $0.customData = [datum("a", "[1,true]")]
                }
            ),
        ] as [(String, @Sendable (inout Notifications.Notification) -> Void)])
    func members(json: String, change: @Sendable (inout Notifications.Notification) -> Void) throws {
        #expect(String(decoding: try Self.message(PushOptions(), change).payload, as: UTF8.self) == json)
    }

    private static func datum(_ key: String, _ value: String) -> CustomDatum {
        CustomDatum(key: key, value: RawJSON(validated: Array(value.utf8)))
    }

    @Test("A dataset change is five texts that Cognito Sync's clients read")
    func datasetChange() throws {
        let key = DatasetKey(identityPoolID: "p", identityID: "i", datasetName: "d")
        var builder = WebPushMessageBuilder()
        let content = try builder.content(
            of: DatasetChange(operation: .changed, key: key, syncCount: 7, deviceID: nil), expirationSeconds: 9)
        #expect(
            String(decoding: content.payload, as: UTF8.self)
                == #"{"data":{"source":"cognito-sync","identityPoolId":"p","identityId":"i","datasetName":"d","#
                + #""syncCount":"7"}}"#)
        #expect(content.priority == .conserving && content.expirationSeconds == 9)
        #expect(content.topic.count == 24)
    }

    @Test("A topic is 24 characters of base64url, and follows from the collapse identifier")
    func topics() throws {
        var seen: Set<String> = []
        for number in 0..<200 {
            let content = try Self.message(PushOptions(collapseID: "score-\(number) ü")) { $0.body = "B" }
            #expect(content.topic.utf8.count == 24)
            #expect(
                content.topic.utf8.allSatisfy { byte in
                    "-_".utf8.contains(byte) || (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
                        || (0x61...0x7A).contains(byte)
                })
            #expect(seen.insert(content.topic).inserted)
        }
        let again = try Self.message(PushOptions(collapseID: "score-0 ü")) { $0.body = "other" }
        #expect(seen.contains(again.topic))
        #expect(try Self.message { $0.body = "B" }.topic.isEmpty)
    }

    @Test("Priorities become urgencies, and the collapse identifier also a tag")
    func headers() throws {
        let urgencies = [PushPriority.immediate, .conserving, .passive].map { "\($0.webPushUrgency)" }
        #expect(urgencies == ["high", "normal", "low"])
        let content = try Self.message(PushOptions(priority: .passive, collapseID: "x")) { $0.body = "B" }
        #expect(content.priority == .passive)
        #expect(String(decoding: content.payload, as: UTF8.self) == #"{"notification":{"body":"B","tag":"x"}}"#)
    }

    @Test("A text that does not fit into one record is refused, and the longest one is not")
    func sizes() throws {
        let frame = #"{"notification":{"body":""}}"#.utf8.count
        let longest = String(repeating: "x", count: WebPushMessageBuilder.plaintextBytesMaximum - frame)
        #expect(try Self.message { $0.body = longest }.payload.count == WebPushMessageBuilder.plaintextBytesMaximum)
        #expect(throws: EventRejection.self) { try Self.message { $0.body = longest + "x" } }
    }

    @Test("A push type that only Apple has is refused")
    func pushTypes() {
        #expect(throws: EventRejection.self) { try Self.message(PushOptions(pushType: .voip)) { $0.body = "B" } }
    }
}
