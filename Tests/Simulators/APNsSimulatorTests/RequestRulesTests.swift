import Testing

@testable import APNsSimulator

@Suite("The rules for requests")
struct RequestRulesTests {
    private let good = RequestFacts()
    private let bundleID = RequestFacts.bundleID

    @Test("A request in order is accepted")
    func goodRequestIsAccepted() {
        #expect(good.rejection() == nil)
        #expect(good.rejection(bundleIDs: []) == nil)
    }

    @Test(
        "Headers that Apple calls optional may be missing",
        arguments: [
            "apns-id", "apns-expiration", "apns-priority", "apns-push-type", "apns-collapse-id", "content-type",
        ])
    func optionalHeadersMayBeMissing(name: String) {
        #expect(good.with(name, nil).rejection() == nil)
    }

    @Test(
        "Each fault of the headers has its reason",
        arguments: [
            (":method", "GET", Rejection.methodNotAllowed),
            (":path", "/3/devices/00", .badPath),
            (":path", "/2/device/00", .badPath),
            (":path", "/3/device/00/11", .badPath),
            (":path", "/", .badPath),
            (":path", "/3/device/", .missingDeviceToken),
            (":path", "/3/device", .missingDeviceToken),
            (":path", "/3/device/abc", .badDeviceToken),
            (":path", "/3/device/xy", .badDeviceToken),
            (":path", "/3/device/" + String(repeating: "ab", count: 300), .badDeviceToken),
            ("apns-id", "123E4567-E89B-42D3-A456-426614174000", .badMessageID),
            ("apns-id", "123e4567e89b42d3a456426614174000", .badMessageID),
            ("apns-id", "123e4567-e89b-42d3-a456-42661417400g", .badMessageID),
            ("apns-id", "", .badMessageID),
            ("apns-expiration", "soon", .badExpirationDate),
            ("apns-expiration", "-1", .badExpirationDate),
            ("apns-expiration", "", .badExpirationDate),
            ("apns-expiration", "1.5", .badExpirationDate),
            ("apns-priority", "7", .badPriority),
            ("apns-priority", "010", .badPriority),
            ("apns-priority", "", .badPriority),
            ("apns-push-type", "Alert", .invalidPushType),
            ("apns-push-type", "", .invalidPushType),
            ("apns-push-type", "background", .badPriority),
            ("apns-topic", "", .missingTopic),
            ("apns-topic", "com.example chat", .badTopic),
            ("apns-topic", "com.example.chat.voip", .badTopic),
            ("apns-topic", "com.example.chatter", .topicDisallowed),
            ("apns-topic", "com.example", .topicDisallowed),
            ("apns-collapse-id", String(repeating: "c", count: 65), .badCollapseID),
            ("apns-collapse-id", "", .badCollapseID),
        ])
    func faultsOfHeaders(name: String, value: String, expected: Rejection) {
        #expect(good.with(name, value).rejection() == expected)
    }

    @Test("A topic that is missing is told apart from one that is wrong")
    func missingTopic() {
        #expect(good.with("apns-topic", nil).rejection() == .missingTopic)
    }

    @Test("A request without method or path is refused")
    func missingRequestLine() {
        #expect(good.with(":method", nil).rejection() == .methodNotAllowed)
        #expect(good.with(":path", nil).rejection() == .badPath)
    }

    @Test(
        "Any header of Apple's that comes twice is refused",
        arguments: [
            "authorization", "apns-id", "apns-expiration", "apns-priority", "apns-push-type", "apns-topic",
            "apns-collapse-id",
        ])
    func duplicateHeaders(name: String) {
        #expect(good.adding(name, "x").rejection() == .duplicateHeaders)
    }

    @Test("Headers that APNs does not know are no matter, even twice")
    func unknownHeaders() {
        #expect(good.adding("x-trace", "1").adding("x-trace", "2").rejection() == nil)
    }

    @Test("The collapse identifier is limited in bytes, not in characters")
    func collapseIdentifierBytes() {
        #expect(good.with("apns-collapse-id", String(repeating: "c", count: 64)).rejection() == nil)
        #expect(good.with("apns-collapse-id", String(repeating: "é", count: 33)).rejection() == .badCollapseID)
    }

    @Test("What the provider token is refused for is answered before topic, device and payload are looked at")
    func providerTokenComesFirst() {
        var request = good.with("apns-topic", nil).with(":path", "/3/device/zz").payload("")
        request.tokenRejection = .expiredProviderToken
        #expect(request.rejection() == .expiredProviderToken)
        #expect(request.with("apns-id", "no").rejection() == .badMessageID)
    }

    @Test(
        "A payload has to be a JSON object in UTF-8",
        arguments: [
            "", "{", "[]", "null", "{\"aps\":1}", "{\"aps\":{}}}", "{'aps':{}}", "{\"aps\":{\"alert\":\"a\"},}",
            "{\"aps\":{\"alert\":\"a\nb\"}}", "{\"aps\":{\"badge\":01}}", "{\"aps\":{\"alert\":\"\\x\"}}",
            "{\"aps\":{\"event\":1}}",
            "{\"a\":" + String(repeating: "[", count: 100) + String(repeating: "]", count: 100) + "}",
        ])
    func unreadablePayloads(payload: String) {
        #expect(good.payload(payload).rejection() == .payloadEmpty)
    }

    @Test("A payload that is not UTF-8 is refused")
    func brokenUTF8() {
        #expect(PushPayload.keys(in: Array("{\"aps\":{\"alert\":\"".utf8) + [0xC3, 0x28] + Array("\"}}".utf8)) == nil)
    }

    @Test(
        "Payloads of all kinds of JSON are read",
        arguments: [
            #"{"aps":{"alert":{"title":"\u00e9 \"x\"","loc-args":["a",1,-2.5e+3,true,false,null,{}]}},"x":[[]]}"#,
            #" { "aps" : { "badge" : 0 } , "custom" : { "a" : [ ] } } "#,
            #"{"aps":{"sound":{"critical":1,"volume":0.5}},"emoji":"🦅"}"#,
        ])
    func readablePayloads(payload: String) {
        #expect(good.payload(payload).rejection() == nil)
    }

    @Test("A payload may be 4096 bytes long, for calls 5120")
    func payloadSizes() {
        func padded(to count: Int) -> String {
            let frame = #"{"aps":{"alert":""}}"#
            return #"{"aps":{"alert":""# + String(repeating: "x", count: count - frame.utf8.count) + #""}}"#
        }
        #expect(good.payload(padded(to: 4_096)).rejection() == nil)
        #expect(good.payload(padded(to: 4_097)).rejection() == .payloadTooLarge)
        let call = good.with("apns-push-type", "voip").with("apns-topic", bundleID + ".voip")
        #expect(call.payload(padded(to: 5_120)).rejection() == nil)
        #expect(call.payload(padded(to: 5_121)).rejection() == .payloadTooLarge)
        #expect(good.payload(padded(to: 1_000_000)).rejection() == .payloadTooLarge)
    }

    @Test(
        "Every push type is accepted with its topic, its priority and its payload",
        arguments: [
            ("alert", "", "5", #"{"aps":{"badge":1}}"#),
            ("background", "", "5", #"{"aps":{"content-available":1},"data":{}}"#),
            ("complication", ".complication", "10", "{}"),
            ("controls", ".push-type.controls", "10", #"{"aps":{"content-changed":true}}"#),
            ("fileprovider", ".pushkit.fileprovider", "10", #"{"container-identifier":"a","domain":"b"}"#),
            (
                "liveactivity", ".push-type.liveactivity", "5",
                #"{"aps":{"event":"update","timestamp":1,"content-state":{}}}"#
            ),
            (
                "liveactivity", ".push-type.liveactivity", "10",
                """
                {"aps":{"event":"start","timestamp":1,"content-state":{},\
                "attributes-type":"A","attributes":{},"alert":{}}}
                """
            ),
            ("location", ".location-query", "10", "{}"),
            ("mdm", "", "10", #"{"mdm":"magic"}"#),
            ("pushtotalk", ".voip-ptt", "10", "{}"),
            ("voip", ".voip", "10", "{}"),
            ("widgets", ".push-type.widgets", "10", #"{"aps":{"content-changed":true}}"#),
        ])
    func pushTypes(type: String, suffix: String, priority: String, payload: String) {
        let request = good.type(type, topic: bundleID + suffix, priority: priority, payload: payload)
        #expect(request.rejection() == nil)
        #expect(request.rejection(bundleIDs: []) == nil)
        if !suffix.isEmpty { #expect(request.with("apns-topic", bundleID).rejection() == .badTopic) }
        #expect(request.with("apns-topic", "org.example.other" + suffix).rejection() == .topicDisallowed)
        #expect(request.with("apns-push-type", nil).rejection() == nil)
    }

    @Test(
        "A push type that contradicts priority or payload is refused",
        arguments: [
            ("alert", "", "10", #"{"aps":{"content-available":1}}"#, Rejection.invalidPushType),
            ("alert", "", "10", "{}", .invalidPushType),
            ("background", "", "10", #"{"aps":{"content-available":1}}"#, .badPriority),
            ("background", "", "1", #"{"aps":{"content-available":1}}"#, .badPriority),
            ("background", "", "5", #"{"aps":{}}"#, .invalidPushType),
            ("background", "", "5", #"{"aps":{"content-available":0}}"#, .invalidPushType),
            ("background", "", "5", #"{"aps":{"content-available":1,"sound":"default"}}"#, .invalidPushType),
            ("background", "", "5", #"{"aps":{"content-available":1,"badge":0}}"#, .invalidPushType),
            ("liveactivity", ".push-type.liveactivity", "1", #"{"aps":{"event":"end","timestamp":1}}"#, .badPriority),
            ("liveactivity", ".push-type.liveactivity", "5", #"{"aps":{"event":"end"}}"#, .invalidPushType),
            (
                "liveactivity", ".push-type.liveactivity", "5", #"{"aps":{"event":"start","timestamp":1}}"#,
                .invalidPushType
            ),
            (
                "liveactivity", ".push-type.liveactivity", "5",
                #"{"aps":{"event":"update","timestamp":1,"attributes":{}}}"#, .invalidPushType
            ),
            (
                "liveactivity", ".push-type.liveactivity", "5",
                #"{"aps":{"event":"update","timestamp":1,"dismissal-date":2}}"#, .invalidPushType
            ),
            ("alert", "", "10", #"{"aps":{"alert":"x","stale-date":1}}"#, .invalidPushType),
            ("voip", ".voip", "10", #"{"aps":{"content-state":{}}}"#, .invalidPushType),
            (
                "widgets", ".push-type.widgets", "10", #"{"aps":{"content-changed":true,"badge":1}}"#, .invalidPushType
            ),
            ("alert", "", "10", #"{"aps":{"alert":"x","content-changed":true}}"#, .invalidPushType),
            ("location", ".location-query", "1", "{}", .badPriority),
            ("widgets", ".push-type.widgets", "10", #"{"aps":{}}"#, .invalidPushType),
            ("controls", ".push-type.controls", "10", "{}", .invalidPushType),
        ])
    func contradictions(type: String, suffix: String, priority: String, payload: String, expected: Rejection) {
        let request = good.type(type, topic: bundleID + suffix, priority: priority, payload: payload)
        #expect(request.rejection() == expected)
    }

    @Test("A background push without a priority has priority 10, and is refused")
    func backgroundWithoutPriority() {
        let request = good.type(
            "background", topic: bundleID, priority: "5", payload: #"{"aps":{"content-available":1}}"#)
        #expect(request.with("apns-priority", nil).rejection() == .badPriority)
    }
}
