import ChangeEvents
import DispatchCore
import Notifications
import Testing

@Suite("Events that ask for a push")
struct PushEventTests {
    private let decoding = EventDecoding()

    @Test("Each kind of target is read, what occurs twice being taken once")
    func readsTargets() throws {
        let token = try #require(DeviceToken(bytes: [0xab, 0xcd]))
        let targets: [(String, String, Audience)] = [
            ("deviceTokens", "[\"abCD\",\"ABcd\"]", .tokens([token], app: "chat")),
            ("deviceIds", "[\"d2\",\"d1\",\"d2\"]", .devices(["d2", "d1"], app: "chat")),
            ("identityIds", "[\"us-east-1:1\"]", .identities(["us-east-1:1"], app: "chat")),
            ("userIds", "[\"ü\"]", .users(["ü"], app: "chat")),
            ("topic", "\"news\"", .topic("news", app: "chat")),
        ]
        for (key, value, audience) in targets {
            var changes: [String: String?] = ["topic": nil]
            changes[key] = value
            let push = try #require(try decoding.push(EventText.push(changes)))
            #expect(push.app == "chat")
            #expect(push.audience == audience)
            #expect(push.notification.body == "Hello")
            #expect(push.options == PushOptions())
        }
    }

    @Test("No target and several targets are refused with the list of them")
    func demandsOneTarget() throws {
        let none = try #require(decoding.rejection(EventText.push(["topic": nil])))
        #expect(none.reason == .missingField)
        #expect(none.message.contains("deviceTokens, deviceIds, identityIds, userIds, topic"))
        let several = try #require(decoding.rejection(EventText.push(["userIds": "[\"u\"]"])))
        #expect(several.reason == .invalidField)
        #expect(several.message.contains("userIds, topic"))
    }

    @Test("A token of no bytes, of 300 bytes, of odd digits or of none is refused without repeating it or the others")
    func checksTokens() throws {
        let longest = String(repeating: "ab", count: DeviceToken.bytesMaximum)
        #expect(decoding.rejection(EventText.push(["topic": nil, "deviceTokens": "[\"\(longest)\"]"])) == nil)
        let wrong = [
            "\"\"", "\"\(String(repeating: "ab", count: 300))\"", "\"deadbee\"", "\"deadbeeg\"", "\"dead beef\"",
            "null", "[\"deadbeef\"]",
        ]
        for token in wrong {
            let push = try #require(
                try decoding.push(EventText.push(["topic": nil, "deviceTokens": "[\"abcd\",\(token)]"])))
            #expect(push.audience == .tokens([try #require(DeviceToken(bytes: [0xab, 0xcd]))], app: "chat"))
            let refused = try #require(push.refused)
            #expect(refused.names == ["deviceTokens[1]"] && refused.first.reason == .invalidField)
            #expect(refused.first.message.hasPrefix("data.deviceTokens[1] is "), "\(refused)")
            #expect(!refused.first.message.contains("dead") && !refused.first.message.contains("abab"), "\(refused)")
            let alone = try #require(
                decoding.rejection(EventText.push(["topic": nil, "deviceTokens": "[\(token),\(token)]"])))
            #expect(alone.message.hasPrefix("data.deviceTokens[0] is "), "\(alone)")
        }
    }

    @Test(
        "A wrong entry of any list of targets leaves the others, and `apus publish` refuses the event",
        arguments: [
            ("deviceIds", #"["a","","b",7]"#, ["deviceIds[1]", "deviceIds[3]"]),
            ("identityIds", #"["bob","us-east-1:1"]"#, ["identityIds[0]"]),
            ("userIds", #"[null,"a","a","a\u0000"]"#, ["userIds[0]", "userIds[3]"]),
        ])
    func refusesEntries(key: String, list: String, names: [String]) throws {
        let body = EventText.push(["topic": nil, key: list])
        #expect(try #require(try decoding.push(body)).refused?.names == names)
        var validator = EventValidator()
        do throws(EventRejection) {
            _ = try validator.validate(decoding.message(body))
            Issue.record("the event is valid")
        } catch {
            #expect(error.message.hasPrefix("data.\(names[0]) is "), "\(error)")
        }
    }

    @Test("Lists of targets are bounded")
    func boundsTargets() throws {
        func list(_ count: Int) -> String { "[" + (0..<count).map { "\"u\($0)\"" }.joined(separator: ",") + "]" }
        let limit = EventLimits.targetsMaximum
        let push = try #require(try decoding.push(EventText.push(["topic": nil, "userIds": list(limit)])))
        guard case .users(let users, _) = push.audience else {
            Issue.record("the audience is \(push.audience)")
            return
        }
        #expect(users.count == limit)
        let rejection = try #require(decoding.rejection(EventText.push(["topic": nil, "userIds": list(limit + 1)])))
        #expect(rejection.reason == .invalidField)
        #expect(rejection.message.contains("more than \(limit)"))
    }

    @Test("Options are read")
    func readsOptions() throws {
        let text = #"{"pushType":"pushtotalk","priority":1,"expiration":"2026-01-31T12:00:00.9Z","collapseId":"c"}"#
        let push = try #require(try decoding.push(EventText.push(["options": text])))
        #expect(
            push.options
                == PushOptions(
                    pushType: .pushtotalk, priority: .passive, expirationSeconds: 1_769_860_800, collapseID: "c"))
        let now = try #require(try decoding.push(EventText.push(["options": #"{"expiration":0}"#])))
        #expect(now.options.expirationSeconds == 0)
        let past = try #require(try decoding.push(EventText.push(["options": #"{"expiration":1}"#])))
        #expect(past.options.expirationSeconds == 1, "what has expired is for the pipeline to count, not an error")
    }

    @Test(
        "Fields of a push that are wrong are named with their path",
        arguments: [
            ("app", "null", "data.app is missing"), ("app", "\"\"", "data.app is an empty string"),
            ("app", "7", "data.app is an integer"), ("topic", "7", "data.topic is an integer"),
            ("topic", "\"\"", "data.topic is an empty string"),
            ("notification", "null", "data.notification is missing"),
            ("notification", "\"x\"", "data.notification is a string of 1 byte"),
            ("options", "[]", "data.options is an empty array"),
            ("options", #"{"pushType":"Alert"}"#, "data.options.pushType is a string of 5 bytes"),
            ("options", #"{"priority":7}"#, "data.options.priority is 7"),
            ("options", #"{"priority":"10"}"#, "data.options.priority is a string"),
            ("options", #"{"expiration":-1}"#, "data.options.expiration is -1"),
            ("options", #"{"expiration":253402300800}"#, "data.options.expiration is 253402300800"),
            ("options", #"{"expiration":1.5}"#, "data.options.expiration is a number with a fraction"),
            ("options", #"{"expiration":"soon"}"#, "data.options.expiration is a string of 4 bytes"),
            ("options", #"{"expiration":"1969-01-01T00:00:00Z"}"#, "data.options.expiration is a string"),
            ("options", #"{"collapseId":""}"#, "data.options.collapseId is an empty string"),
            (
                "options", #"{"collapseId":"a\r\nb"}"#,
                #"data.options.collapseId is "a\r\nb"; it must be a text without control characters"#
            ),
            ("options", #"{"collapseId":" a"}"#, #"data.options.collapseId is " a"; it must be a text without"#),
            (
                "options", "{\"collapseId\":\"\(String(repeating: "é", count: 33))\"}",
                "data.options.collapseId is a string of 66 bytes"
            ),
        ])
    func namesWrongFields(field: String, value: String, message: String) throws {
        let rejection = try #require(decoding.rejection(EventText.push([field: value])))
        #expect([.invalidField, .missingField].contains(rejection.reason))
        #expect(rejection.message.hasPrefix(message), "\(rejection)")
        #expect(rejection.message.contains("; it must be "), "\(rejection)")
    }

    @Test(
        "A refused value is told the part of the rule that it breaks",
        arguments: [
            (["identityIds": "[\"bob\"]"], #"data.identityIds[0] is "bob"; it must be REGION:ID, the ID of 0-9, a-f"#),
            (
                ["identityIds": "[\"a:\(String(repeating: "0", count: 60))\"]"],
                "data.identityIds[0] is a string of 62 bytes; it must be 1 to 55 bytes long"
            ),
            (
                ["identityIds": "[7]"],
                "data.identityIds[0] is an integer; it must be a string, 1 to 55 bytes long: REGION"
            ),
            (["userIds": #"["a\u0000"]"#], #"data.userIds[0] is "a\u0000"; it must be a text without control"#),
            (
                ["deviceTokens": #"["zz"]"#],
                "data.deviceTokens[0] is a string of 2 bytes; it must be hexadecimal digits"
            ),
            (
                ["deviceTokens": #"["abc"]"#],
                "data.deviceTokens[0] is a string of 3 bytes; it must be an even number of"
            ),
            (
                ["topic": "\"t\"", "app": "\"my app\""],
                #"data.app is "my app"; it must be letters and digits of ASCII"#
            ),
            (
                ["topic": "\"t\"", "notification": #"{"badge":99999999999}"#],
                "data.notification.badge is 99999999999; it must be a whole number of 0 to 2147483647"
            ),
            (
                [
                    "topic": "\"t\"",
                    "notification": "{\"inputPushChannel\":\"\(String(repeating: "A", count: 1_028))\"}",
                ],
                "data.notification.inputPushChannel is a string of 1028 bytes; it must be 1 to 1024 bytes long"
            ),
        ])
    func namesTheBrokenRule(fields: [String: String], message: String) throws {
        var changes: [String: String?] = ["topic": nil]
        for (name, value) in fields { changes[name] = value }
        let rejection = try #require(decoding.rejection(EventText.push(changes)))
        #expect(rejection.message.hasPrefix(message), "\(rejection)")
    }

    @Test(
        "A member that is none is refused with the one that was meant",
        arguments: [
            ("userId", "\"u\"", #"data has the unknown member "userId"; did you mean userIds?"#),
            (
                "title", "\"x\"", #"data has the unknown member "title"; it belongs into data.notification"#
            ),
            ("x", "[{}]", #"data has the unknown member "x"; its members are deviceTokens, deviceIds"#),
            ("options", #"{"priorty":10}"#, #"data.options has the unknown member "priorty"; did you mean priority?"#),
            (
                "options", #"{"apns-collapse-id":"a"}"#,
                #"data.options has the unknown member "apns-collapse-id"; did you mean collapseId?"#
            ),
            ("options", #"{"ttl":null}"#, #"data.options has the unknown member "ttl"; options.expiration is"#),
            (
                "notification", #"{"thread-id":"a"}"#,
                #"data.notification has the unknown member "thread-id"; did you mean threadId?"#
            ),
            (
                "notification", #"{"boddy":"a"}"#,
                #"data.notification has the unknown member "boddy"; did you mean body?"#
            ),
            (
                "notification", #"{"alert":"a"}"#,
                #"data.notification has the unknown member "alert"; give title, subtitle and body"#
            ),
            (
                "notification", #"{"priority":5}"#,
                #"data.notification has the unknown member "priority"; it belongs into data.options"#
            ),
            (
                "notification", #"{"sound":{"nam":"a"}}"#,
                #"data.notification.sound has the unknown member "nam"; did you mean name?"#
            ),
        ])
    func refusesUnknownMembers(field: String, value: String, message: String) throws {
        let rejection = try #require(decoding.rejection(EventText.push([field: value])))
        #expect(rejection.reason == .unknownField)
        #expect(rejection.message.hasPrefix(message), "\(rejection)")
    }

    @Test("An unknown member of a megabyte is refused as fast as any other, and shortened")
    func refusesLongMembers() throws {
        let name = String(repeating: "a", count: 1_000_000)
        let rejection = try #require(decoding.rejection(EventText.push([name: "1"])))
        #expect(rejection.reason == .unknownField && rejection.message.utf8.count < 400)
    }
}
