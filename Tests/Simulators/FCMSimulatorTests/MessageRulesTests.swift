import JSON
import PushServiceSimulator
import SimulatorTestClient
import Testing

@testable import FCMSimulator

@Suite("FCM: the rules for messages", .timeLimit(.minutes(10)))
struct MessageRulesTests {
    /// Sends bodies, and gives status, message, fields and whether the error is FCM's own, for each.
    private func judge(_ bodies: [String]) async throws -> [Outcome] {
        var outcomes: [Outcome] = []
        try await FCMFixture.run(FCMFixture.configured { $0.quotas = .unlimited }) { fixture in
            let token = try await fixture.accessToken()
            for body in bodies {
                let response = await fixture.client.send(fixture.request(body: body, accessToken: token))
                let error = try JSONParser().parse(try #require(response.body))["error"]
                let details = error?["details"]?.elements ?? []
                let violations = details.compactMap { $0["fieldViolations"]?.elements }.first
                outcomes.append(
                    Outcome(
                        status: response.status ?? 0, message: error?["message"]?.string ?? "",
                        fields: violations?.compactMap { $0["field"]?.string ?? "" } ?? [],
                        isFCM: details.contains { $0["errorCode"]?.string != nil }))
            }
        }
        return outcomes
    }

    private struct Outcome: Equatable {
        var status: Int
        var message: String
        var fields: [String]
        var isFCM: Bool
    }

    private func body(_ members: String, target: String = #""token":"\#(FCMFixture.device)""#) -> String {
        #"{"message":{\#(target)\#(members.isEmpty ? "" : ",")\#(members)}}"#
    }

    @Test("Every member that the documents have is taken, in both spellings")
    func goodMessages() async throws {
        let everything = #"""
            "notification":{"title":"t","body":"b","image":"https://example.com/i.png"},
            "data":{"a":"1","b":""},
            "android":{"collapse_key":"k","priority":"high","ttl":"3.5s","restricted_package_name":"com.example",
              "data":{"c":"3"},"direct_boot_ok":true,"bandwidth_constrained_ok":false,"restricted_satellite_ok":true,
              "fcm_options":{"analytics_label":"l-1"},
              "notification":{"title":"t","body_loc_args":["x","y"],"color":"#00fF7f","sticky":true,
                "event_time":"2026-11-25T10:00:00.5Z","notification_priority":"PRIORITY_MAX","visibility":"SECRET",
                "vibrate_timings":["0.1s","1s"],"notification_count":3,"proxy":"DENY",
                "light_settings":{"color":{"red":1,"green":0.5,"blue":0,"alpha":1},"light_on_duration":"1s",
                  "light_off_duration":"0.5s"}}},
            "apns":{"headers":{"apns-priority":"5"},"payload":{"aps":{"content-available":1},"x":[1,null,{}]},
              "live_activity_token":"t","fcm_options":{"image":"i","analytics_label":"l"}},
            "webpush":{"headers":{"TTL":"60"},"data":{"w":"1"},"notification":{"title":"t","actions":[]},
              "fcm_options":{"link":"https://example.com","analytics_label":"l"}},
            "fcm_options":{"analytics_label":"label"}
            """#
        let camelCase =
            #""android":{"collapseKey":"k","ttl":"0s","directBootOk":true},"fcmOptions":{"analyticsLabel":"l"}"#
        let bodies = [
            body(everything), body(camelCase), body(""), body(#""android":{"ttl":"2419200s","priority":"NORMAL"}"#),
            body(#""android":null,"data":{}"#), body(#""android_v2":{"anything":{"at":"all"}}"#),
            body("", target: #""fid":"\#(FCMFixture.installation)""#),
            body("", target: #""topic":"news-1_.~%""#),
            body("", target: #""condition":"'a' in topics && ('b' in topics || !('c' in topics))""#),
            body(#""data":{"a":"\#(String(repeating: "x", count: 4_095))"}"#),
            body(#""data":{"a":"\#(String(repeating: "x", count: 2_047))"}"#, target: #""topic":"t""#),
        ]
        let outcomes = try await judge(bodies)
        for (outcome, body) in zip(outcomes, bodies) { #expect(outcome.status == 200, "\(outcome): \(body)") }
    }

    /// Expects that the front end refuses bodies, each with these words and fields.
    private func expectRefusals(_ cases: [(String, String, [String])]) async throws {
        let outcomes = try await judge(cases.map(\.0))
        for (outcome, expected) in zip(outcomes, cases) {
            #expect(
                outcome == Outcome(status: 400, message: expected.1, fields: expected.2, isFCM: false), "\(expected.0)")
        }
    }

    @Test("Values of the wrong type are refused by the front end, in Google's words and without FcmError")
    func wrongTypes() async throws {
        func value(_ members: String, _ path: String, _ rest: String) -> (String, String, [String]) {
            (body(members), "Invalid value at '\(path)' \(rest)", [path])
        }
        let google = "type.googleapis.com/google"
        let number = "message.android.notification.notification_count"
        let time = "message.android.notification.event_time"
        try await expectRefusals([
            value(#""data":{"a":12}"#, "message.data[0].value", "(TYPE_STRING), 12"),
            value(#""data":{"a":"1","b":true}"#, "message.data[1].value", "(TYPE_STRING), true"),
            value(#""data":{"a":null}"#, "message.data[0].value", "(TYPE_STRING), null"),
            value(
                #""android":{"priority":"URGENT"}"#, "message.android.priority",
                "(\(google).firebase.fcm.v1.AndroidMessagePriority), \"URGENT\""),
            value(
                #""notification":"hello""#, "message.notification",
                "(\(google).firebase.fcm.v1.Notification), \"hello\""),
            value(
                #""android":{"notification":{"event_time":"yesterday"}}"#, time,
                "(\(google).protobuf.Timestamp), \"yesterday\""),
            value(#""android":{"notification":{"notification_count":1.5}}"#, number, "(TYPE_INT32), 1.5"),
            value(#""apns":{"payload":"aps"}"#, "message.apns.payload", "(\(google).protobuf.Struct), \"aps\""),
            (
                #"{"validate_only":"yes","message":{}}"#, "Invalid value at 'validate_only' (TYPE_BOOL), \"yes\"",
                ["validate_only"]
            ),
        ])
    }

    @Test("Durations are seconds with an s")
    func durations() async throws {
        let start = "Invalid value at 'message.android.ttl' (type.googleapis.com/google.protobuf.Duration), "
        func ttl(_ value: String, _ rest: String) -> (String, String, [String]) {
            (body(#""android":{"ttl":\#(value)}"#), start + rest, ["message.android.ttl"])
        }
        try await expectRefusals([
            ttl("60", "60"),
            ttl(#""60""#, "Field 'ttl', Illegal duration format; duration must end with 's'"),
            ttl(#""1.2.3s""#, "Field 'ttl', Illegal duration format; failed to parse seconds"),
            ttl(#""1.0000000001s""#, "Field 'ttl', Illegal duration format; failed to parse seconds"),
            ttl(#""999999999999999s""#, "Field 'ttl', Illegal duration; seconds exceed limit"),
        ])
    }

    @Test("Unknown names, several targets, lists and bodies that are none are refused by the front end")
    func wrongNames() async throws {
        let json = "Invalid JSON payload received. "
        func second(_ members: String, _ group: String, _ name: String) -> (String, String, [String]) {
            let start = "Invalid value at 'message' (oneof), oneof field '\(group)' is already set. "
            return (body(members), start + "Cannot set '\(name)'", ["message"])
        }
        try await expectRefusals([
            (body(#""key":"unknown""#), json + #"Unknown name "key" at 'message': Cannot find field."#, ["message"]),
            (#"{"dry_run":true}"#, json + #"Unknown name "dry_run": Cannot find field."#, [""]),
            (
                body(#""android":{"data":{"m":{"x":1}}}"#),
                json + #"Unknown name "x" at 'message.android.data[0].value': Cannot find field."#,
                ["message.android.data[0].value"]
            ),
            second(#""topic":"news""#, "target", "topic"),
            second(#""fid":"\#(FCMFixture.installation)""#, "target", "fid"),
            second(#""android":{},"android_v2":{}"#, "android_config", "android_v2"),
            (
                body("", target: #""token":["a"]"#),
                json + #"Unknown name "token" at 'message': Proto field is not repeating, cannot start list."#,
                ["message"]
            ),
            ("[1]", json + #"Unknown name "": Root element must be a message."#, [""]),
            (#"{"message":"#, json + "Unexpected token.\n{\"message\":\n^", [""]),
            (
                body(#""x":1,"data":{"a":1}"#),
                json + "Unknown name \"x\" at 'message': Cannot find field.\n"
                    + "Invalid value at 'message.data[0].value' (TYPE_STRING), 1",
                ["message", "message.data[0].value"]
            ),
        ])
    }

    @Test("What FCM's own rules forbid is INVALID_ARGUMENT with the field")
    func ruleViolations() async throws {
        func large(_ count: Int) -> String { #""data":{"a":"\#(String(repeating: "x", count: count))"}"# }
        let size = "Message is too large. The maximum is 4K (4096 bytes)."
        let sixTopics = ["a", "b", "c", "d", "e", "f"].map { "'\($0)' in topics" }.joined(separator: " || ")
        let cases: [(String, String, String)] = [
            ("{}", "Recipient of the message is not set.", "message"),
            ("", "Recipient of the message is not set.", "message"),
            (#"{"message":{"data":{"a":"1"}}}"#, "Recipient of the message is not set.", "message"),
            (body(#""data":{"from":"x"}"#), "Invalid data payload key: from", "message.data"),
            (body(#""data":{"a":"1","message_type":"x"}"#), "Invalid data payload key: message_type", "message.data"),
            (body(#""data":{"google.x":"1"}"#), "Invalid data payload key: google.x", "message.data"),
            (body(#""data":{"gcm":"1"}"#), "Invalid data payload key: gcm", "message.data"),
            (body(#""android":{"data":{"gcm.x":"1"}}"#), "Invalid data payload key: gcm.x", "message.android.data"),
            (
                body(#""android":{"ttl":"2419201s"}"#),
                "Invalid TTL: a duration from 0 to 2419200 seconds is expected.", "message.android.ttl"
            ),
            (
                body(#""android":{"ttl":"-1s"}"#),
                "Invalid TTL: a duration from 0 to 2419200 seconds is expected.", "message.android.ttl"
            ),
            (body("", target: #""topic":"/topics/news""#), "Invalid topic name provided.", "message.topic"),
            (body("", target: #""topic":"""#), "Invalid topic name provided.", "message.topic"),
            (
                body("", target: #""condition":"'a' in topics &&""#), "Invalid condition expression provided.",
                "message.condition"
            ),
            (
                body("", target: #""condition":"\#(sixTopics)""#), "Invalid condition expression provided.",
                "message.condition"
            ),
            (body(large(4_096)), size, "message"),
            (
                body(#""notification":{"title":"\#(String(repeating: "x", count: 2_000))"},"# + large(2_091)), size,
                "message"
            ),
            (body(#""android":{\#(large(4_096))}"#), size, "message"),
            (body(#""apns":{"payload":{"a":"\#(String(repeating: "x", count: 4_090))"}}"#), size, "message"),
            (
                body(large(2_048), target: #""topic":"t""#), "Message is too large. The maximum is 2K (2048 bytes).",
                "message"
            ),
            (
                body(#""android":{"notification":{"color":"red"}}"#), "Invalid color: #RRGGBB is expected.",
                "message.android.notification.color"
            ),
            (
                body(#""apns":{"fcm_options":{"analytics_label":"a b"}}"#), "Invalid analytics label.",
                "message.apns.fcm_options.analytics_label"
            ),
        ]
        let outcomes = try await judge(cases.map(\.0))
        for (outcome, expected) in zip(outcomes, cases) {
            #expect(
                outcome == Outcome(status: 400, message: expected.1, fields: [expected.2], isFCM: true),
                "\(expected.0.prefix(200))")
        }
    }

    @Test("A malformed address is refused only if the message itself is good")
    func malformedAddresses() async throws {
        let message = "The registration token is not a valid FCM registration token"
        let outcomes = try await judge([
            body("", target: #""token":"no token!""#), body("", target: #""token":"""#),
            body("", target: #""fid":"too-short""#), body("", target: #""fid":"xQw4w9WgXcQabcdefghijk""#),
            body(#""data":{"from":"x"}"#, target: #""token":"no token!""#),
        ])
        for outcome in outcomes.dropLast() {
            #expect(outcome == Outcome(status: 400, message: message, fields: [], isFCM: true))
        }
        #expect(outcomes.last?.message == "Invalid data payload key: from")
    }

    @Test("The sender is asked for first, then the project, and only then is the message looked at")
    func sendersAndProjects() async throws {
        try await FCMFixture.run { fixture in
            let token = try await fixture.accessToken()
            let bad = "{"
            func answer(_ request: WireRequest) async throws -> (Int?, String?) {
                let response = await fixture.client.send(request)
                let error = try JSONParser().parse(response.body ?? "")["error"]
                return (response.status, error?["details"]?.elements.first?["reason"]?.string)
            }
            let missing = fixture.request(body: bad, accessToken: nil)
            #expect(try await answer(missing) == (401, "CREDENTIALS_MISSING"))
            #expect(
                await fixture.client.send(missing).header("www-authenticate")
                    == "Bearer realm=\"https://accounts.google.com/\"")
            let unknown = fixture.request(body: bad, accessToken: "ya29.guessed")
            #expect(try await answer(unknown) == (401, "ACCESS_TOKEN_EXPIRED"))
            let basic = fixture.request(body: bad, accessToken: token).with("authorization", "Basic eDp5")
            #expect(try await answer(basic) == (401, "CREDENTIALS_MISSING"))
            let narrow = try await fixture.accessToken(
                try fixture.assertion(
                    claims: fixture.claims(["scope": "\"https://www.googleapis.com/auth/userinfo.email\""])))
            #expect(
                try await answer(fixture.request(body: bad, accessToken: narrow))
                    == (403, "ACCESS_TOKEN_SCOPE_INSUFFICIENT"))
            let elsewhere = fixture.request(body: bad, accessToken: token, path: "/v1/projects/other/messages:send")
            let response = await fixture.client.send(elsewhere)
            #expect(response.status == 400)
            #expect(response.body?.contains("Fail to resolve resource 'projects/") == true)
            #expect(try FCMFixture.errorCode(response) == nil)
            let byNumber = fixture.request(
                body: #"{"message":{"token":"\#(FCMFixture.device)"}}"#, accessToken: token,
                path: "/v1/projects/4711/messages:send")
            #expect(await fixture.client.send(byNumber).status == 200)
            let wrongType = fixture.message(accessToken: token).with("content-type", "text/plain")
            #expect(await fixture.client.send(wrongType).status == 400)
            let charset = fixture.message(accessToken: token).with("content-type", "application/json; charset=UTF-8")
            #expect(await fixture.client.send(charset).status == 200)
        }
    }

    @Test("An account without the role gets 403 without FcmError")
    func accountWithoutRole() async throws {
        try await FCMFixture.run(FCMFixture.configured { $0.accounts[0].maySend = false }) { fixture in
            let token = try await fixture.accessToken()
            let response = await fixture.client.send(fixture.message(accessToken: token))
            #expect(response.status == 403)
            #expect(try FCMFixture.errorCode(response) == nil)
            #expect(response.body?.contains("Permission 'cloudmessaging.messages.create' denied on resource") == true)
        }
    }

    @Test(
        "Any other path or method is a page of HTML",
        arguments: [
            "/fcm/send", "/v1/projects/chat-4711/messages", "/v1/projects//messages:send", "/batch",
            "/v1/projects/chat-4711/messages:send/", "/",
        ])
    func otherPaths(_ path: String) async throws {
        try await FCMFixture.run { fixture in
            let token = try await fixture.accessToken()
            let request = fixture.message(accessToken: token)
            for request in [request.with(":path", path), request.with(":method", "GET")] {
                let response = await fixture.client.send(request)
                #expect(response.status == 404 && response.header("content-type") == "text/html; charset=UTF-8")
                #expect(response.body?.hasPrefix("<!DOCTYPE html>") == true)
            }
        }
    }
}
