import ChangeEvents
import JSON
import Notifications
import PushTestKit
import Testing

@Suite("Notifications of requested pushes")
struct NotificationDecodingTests {
    private let decoding = EventDecoding()

    private func notification(_ text: String) throws -> Notification {
        try #require(try decoding.push(EventText.push(notification: text))).notification
    }

    @Test("Every field is read")
    func readsEveryField() throws {
        let text = #"""
            {"title":"t","subtitle":"s","body":"b","titleLocKey":"TK","titleLocArgs":["1"],"subtitleLocKey":"SK",
            "subtitleLocArgs":["2","3"],"locKey":"LK","locArgs":[],"actionLocKey":"AK","launchImage":"li","badge":0,
            "sound":{"critical":true,"name":"n","volume":0.5},"threadId":"th","category":"c","contentAvailable":true,
            "mutableContent":1,"targetContentId":"tc","interruptionLevel":"time-sensitive","relevanceScore":100,
            "filterCriteria":"fc","staleDate":1,"contentState":{ "a" : 1 },"timestamp":2,"event":"start",
            "dismissalDate":"1970-01-01T00:00:03Z","attributesType":"at","attributes":{ },"inputPushChannel":"YWI=",
            "inputPushToken":true,"contentChanged":true,"data":{"b":[1, 2],"a":null}}
            """#
        var expected = Notification()
        expected.title = "t"
        expected.localizedTitle = .init(key: "TK", arguments: ["1"])
        expected.subtitle = "s"
        expected.localizedSubtitle = .init(key: "SK", arguments: ["2", "3"])
        expected.body = "b"
        expected.localizedBody = .init(key: "LK")
        expected.actionLocalizationKey = "AK"
        expected.launchImage = "li"
        expected.badge = 0
        expected.sound = .critical(name: "n", volume: 0.5)
        expected.threadID = "th"
        expected.category = "c"
        expected.isContentAvailable = true
        expected.isContentMutable = true
        expected.targetContentID = "tc"
        expected.interruptionLevel = .timeSensitive
        expected.relevanceScore = 100
        expected.filterCriteria = "fc"
        expected.staleDateSeconds = 1
        expected.contentState = RawJSON(validated: Array(#"{"a":1}"#.utf8))
        expected.timestampSeconds = 2
        expected.liveActivityEvent = .start
        expected.dismissalDateSeconds = 3
        expected.attributesType = "at"
        expected.attributes = RawJSON(validated: Array("{}".utf8))
        expected.inputPushChannel = "YWI="
        expected.requestsInputPushToken = true
        expected.isContentChanged = true
        expected.customData = [
            CustomDatum(key: "b", value: RawJSON(validated: Array("[1,2]".utf8))),
            CustomDatum(key: "a", value: RawJSON(validated: Array("null".utf8))),
        ]
        #expect(try notification(text) == expected)
    }

    @Test("An empty notification says nothing, and so do nulls")
    func readsNothing() throws {
        #expect(try notification("{}") == Notification())
        #expect(try notification(#"{"title":null,"badge":null,"sound":null,"contentAvailable":null}"#) == .init())
        #expect(try notification(#"{"contentAvailable":0,"mutableContent":false}"#) == Notification())
    }

    @Test("A sound is a name or an object")
    func readsSounds() throws {
        #expect(try notification(#"{"sound":"default"}"#).sound == .named("default"))
        #expect(try notification(#"{"sound":{"name":"a"}}"#).sound == .named("a"))
        #expect(try notification(#"{"sound":{"name":"a","critical":1}}"#).sound == .critical(name: "a", volume: nil))
    }

    @Test(
        "A field of the wrong kind is named with its path and with what is right",
        arguments: [
            ("title", "\"\""), ("body", "\"\""), ("sound", "\"\""), ("locKey", "\"\""), ("threadId", "\"\""),
            ("title", "7"), ("titleLocKey", "[]"), ("titleLocArgs", "\"x\""), ("titleLocArgs", "[1]"),
            ("subtitle", "true"), ("subtitleLocKey", "1.5"), ("subtitleLocArgs", "{}"), ("body", "{}"),
            ("locKey", "7"), ("locArgs", "[\"a\",null]"), ("actionLocKey", "[]"), ("launchImage", "7"),
            ("image", "7"), ("image", "\"\""), ("image", "\"http://a/b\""), ("image", "\"https://\""),
            ("image", "\"https://a b\""),
            ("badge", "\"3\""), ("badge", "-1"), ("badge", "1.5"), ("badge", "99999999999"),
            ("badge", "18446744073709551615"), ("sound", "true"), ("sound", "7"), ("threadId", "7"),
            ("category", "[]"), ("contentAvailable", "\"true\""), ("contentAvailable", "2"),
            ("mutableContent", "1.5"), ("targetContentId", "7"), ("interruptionLevel", "\"urgent\""),
            ("interruptionLevel", "1"), ("relevanceScore", "\"1\""), ("filterCriteria", "[]"),
            ("staleDate", "\"x\""), ("staleDate", "-1"), ("contentState", "[]"), ("contentState", "\"{}\""),
            ("timestamp", "1.5"), ("event", "\"stop\""), ("dismissalDate", "true"), ("attributesType", "{}"),
            ("attributes", "7"), ("inputPushChannel", "\"???\""), ("inputPushChannel", "\"\""),
            ("inputPushToken", "\"x\""), ("contentChanged", "[]"), ("data", "[]"), ("data", "\"x\""),
        ])
    func namesWrongFields(field: String, value: String) throws {
        let rejection = try #require(decoding.rejection(EventText.push(notification: "{\"\(field)\":\(value)}")))
        #expect(rejection.reason == .invalidField, "\(rejection)")
        #expect(rejection.message.hasPrefix("data.notification.\(field)"), "\(rejection)")
        #expect(rejection.message.contains("; it must be "), "\(rejection)")
    }

    @Test(
        "What does not go together is refused",
        arguments: [
            (#"{"titleLocArgs":["a"]}"#, "data.notification.titleLocKey is missing"),
            (#"{"subtitleLocArgs":["a"]}"#, "data.notification.subtitleLocKey is missing"),
            (#"{"locArgs":[]}"#, "data.notification.locKey is missing"),
            (#"{"sound":{"critical":true}}"#, "data.notification.sound.name is missing"),
            (#"{"sound":{"name":"a","volume":1}}"#, "data.notification.sound.critical is missing"),
            (#"{"sound":{"name":"a","critical":true,"volume":1.1}}"#, "data.notification.sound.volume is"),
            (#"{"sound":{"name":"a","critical":true,"volume":"1"}}"#, "data.notification.sound.volume is a string"),
            (#"{"data":{"aps":{}}}"#, "data.notification.data has the key aps"),
        ])
    func refusesContradictions(text: String, message: String) throws {
        let rejection = try #require(decoding.rejection(EventText.push(notification: text)))
        #expect([.invalidField, .missingField].contains(rejection.reason))
        #expect(rejection.message.hasPrefix(message), "\(rejection)")
    }

    @Test("The keys of the app's own are bounded")
    func boundsCustomKeys() throws {
        func data(_ count: Int) -> String {
            "{\"data\":{" + (0..<count).map { "\"k\($0)\":0" }.joined(separator: ",") + "}}"
        }
        let limit = EventLimits.customKeysMaximum
        #expect(try notification(data(limit)).customData.count == limit)
        #expect(decoding.rejection(EventText.push(notification: data(limit + 1)))?.reason == .invalidField)
    }

    /// A notification without the member and one with it, as JSON texts; a new member needs an example here.
    private static func example(_ member: Notification.Member) -> (without: String, with: String) {
        let name = member.name
        func with(_ value: String) -> (without: String, with: String) { ("{}", "{\"\(name)\":\(value)}") }
        func arguments(of key: Notification.Member) -> (without: String, with: String) {
            ("{\"\(key.name)\":\"K\"}", "{\"\(key.name)\":\"K\",\"\(name)\":[\"x\"]}")
        }
        return switch member {
        case .title, .body, .subtitle, .sound, .threadID, .category, .titleLocKey, .subtitleLocKey, .locKey,
            .actionLocKey, .launchImage, .targetContentID, .filterCriteria, .attributesType:
            with(#""x""#)
        case .image: with(#""https://x""#)
        case .titleLocArgs: arguments(of: .titleLocKey)
        case .subtitleLocArgs: arguments(of: .subtitleLocKey)
        case .locArgs: arguments(of: .locKey)
        case .badge, .relevanceScore, .timestamp, .staleDate, .dismissalDate: with("1")
        case .contentAvailable, .mutableContent, .contentChanged, .inputPushToken: with("true")
        case .interruptionLevel: with(#""passive""#)
        case .event: with(#""end""#)
        case .contentState, .attributes, .data: with(#"{"a":1}"#)
        case .inputPushChannel: with(#""YWI=""#)
        }
    }

    @Test("Every member of an event reaches the payload, also beside keys of the app's own")
    func everyMemberReachesThePayload() throws {
        var builder = PayloadBuilder()
        for member in Notification.Member.allCases {
            let example = Self.example(member)
            var (without, with) = (try notification(example.without), try notification(example.with))
            #expect(builder.payload(of: with) != builder.payload(of: without), "\(member)")
            let own = CustomDatum(key: "own", value: RawJSON(validated: Array("1".utf8)))
            without.customData.append(own)
            with.customData.append(own)
            #expect(builder.payload(of: with) != builder.payload(of: without), "\(member)")
        }
    }

    @Test("Every property of a notification is a member, and the schema has each member and no other")
    func everyPropertyIsAMember() throws {
        let names = Notification.Member.allCases.map { "\($0.name)" }
        // A text from the app's strings is one property, and its key and its arguments are a member each.
        let keys = names.filter { !$0.hasSuffix("LocArgs") && $0 != "locArgs" }
        #expect(Mirror(reflecting: Notification()).children.count == keys.count)
        // The rules have a bit for each.
        #expect(names.count <= UInt64.bitWidth)
        let schema = try JSONParser().parse(try ExampleEvents.bytes("deploy/schemas/push.requested.json"))
        let members = schema["properties"]?["data"]?["properties"]?["notification"]?["properties"]?.object
        #expect(try #require(members).map { String($0.key) }.sorted() == names.sorted())
    }
}
