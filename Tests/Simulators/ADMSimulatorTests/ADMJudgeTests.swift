import HTTPServer
import PushServiceSimulator
import PushTestKit
import Testing

@testable import ADMSimulator

@Suite("Simulator of ADM: what it takes")
struct ADMJudgeTests {
    private static let granted = "grant_type=client_credentials"

    @Test("A good message is accepted, recorded, and a repetition is a duplicate")
    func accepts() throws {
        let handler = ADMRequests.handler()
        let body = #"{"expiresAfter":60,"consolidationKey":"k","data":{"a":"b"}}"#
        for _ in 0..<2 {
            let answer = try ADMRequests.send(handler, body: body)
            #expect(answer.status == 200)
            #expect(ADMRequests.text(answer) == #"{"registrationID":"\#(ADMRequests.registration)"}"#)
        }
        let summary = handler.summary()
        #expect((summary.accepted, summary.duplicates, summary.tokens.issued) == (2, 1, 2))
        let record = try #require(handler.records.last)
        #expect(record.isDuplicate)
        #expect((record.data, record.consolidationKey, record.expiresAfter) == (["a": "b"], "k", 60))
    }

    @Test(
        "A body that breaks a rule is refused with Amazon's reason",
        arguments: [
            ("", 400, "InvalidData"), ("[]", 400, "InvalidData"), ("{}", 400, "InvalidData"),
            (#"{"data":{"a":1}}"#, 400, "InvalidData"), (#"{"data":{"a":{}}}"#, 400, "InvalidData"),
            (#"{"data":{"a":"b","a":"c"}}"#, 400, "InvalidData"), (#"{"data":{},"extra":1}"#, 400, "InvalidData"),
            (#"{"data":{},"expiresAfter":59}"#, 400, "InvalidExpiration"),
            (#"{"data":{},"expiresAfter":2678401}"#, 400, "InvalidExpiration"),
            (#"{"data":{},"expiresAfter":"60"}"#, 400, "InvalidExpiration"),
            (#"{"data":{},"consolidationKey":7}"#, 400, "InvalidConsolidationKey"),
            (
                #"{"data":{},"consolidationKey":"\#(String(repeating: "k", count: 65))"}"#, 400,
                "InvalidConsolidationKey"
            ),
            (#"{"data":{},"md5":"x"}"#, 400, "InvalidChecksum"),
            (#"{"data":{"a":"\#(String(repeating: "x", count: 6_137))"}}"#, 413, "MessageTooLarge"),
        ])
    func bodies(_ body: String, _ status: Int, _ reason: String) throws {
        let answer = try ADMRequests.send(ADMRequests.handler(), body: body)
        #expect(answer.status == status)
        #expect(ADMRequests.text(answer) == #"{"reason":"\#(reason)"}"#)
    }

    @Test("Data of 6 KB are taken")
    func largest() throws {
        let body = #"{"data":{"a":"\#(String(repeating: "x", count: 6_136))"}}"#
        #expect(try ADMRequests.send(ADMRequests.handler(), body: body).status == 200)
    }

    @Test(
        "A request without one of its headers is refused",
        arguments: [
            ("authorization", 401), ("content-type", 400), ("accept", 400), ("x-amzn-type-version", 400),
            ("x-amzn-accept-type", 400),
        ])
    func headers(_ name: String, _ status: Int) throws {
        #expect(try ADMRequests.send(ADMRequests.handler(), without: name).status == status)
    }

    @Test("A token that is unknown, expired or revoked is refused")
    func tokens() throws {
        let clock = Clock()
        let handler = ADMRequests.handler { $0.wallClockMilliseconds = { clock.milliseconds.value } }
        let token = try ADMRequests.token(handler)
        #expect(try ADMRequests.send(handler, token: token).status == 200)
        clock.milliseconds.update { $0 += 3_599_999 }
        #expect(try ADMRequests.send(handler, token: token).status == 200)
        clock.milliseconds.update { $0 += 1 }
        #expect(ADMRequests.text(try ADMRequests.send(handler, token: token)) == #"{"reason":"AccessTokenExpired"}"#)
        let second = try ADMRequests.token(handler)
        handler.tokens.revokeAll()
        #expect(try ADMRequests.send(handler, token: second).status == 401)
        #expect(try ADMRequests.send(handler, token: "Atc|none").status == 401)
    }

    private final class Clock: Sendable {
        let milliseconds = Watched<Int64>(1_000_000)
    }

    @Test(
        "Requests for tokens that break a rule are refused",
        arguments: [
            ("grant_type=other", 400, "unsupported_grant_type"), ("grant_type=%zz", 400, "invalid_request"),
            ("\(granted)&scope=other&client_id=client&client_secret=x", 400, "invalid_scope"),
            ("\(granted)&scope=messaging:push&client_id=client&client_secret=x", 401, "invalid_client"),
            ("\(granted)&scope=messaging:push&client_id=other&client_secret=x", 401, "invalid_client"),
            ("\(granted)&scope=messaging:push&client_id=client", 401, "invalid_client"),
        ])
    func tokenRefusals(_ form: String, _ status: Int, _ error: String) throws {
        let handler = ADMRequests.handler()
        let answer = try ADMRequests.tokenAnswer(handler, form)
        #expect(answer.status == status)
        #expect(ADMRequests.text(answer).contains("\"\(error)\""))
        #expect(handler.summary().tokens.refused == 1)
    }

    @Test("More messages than the rate allows are refused, until the next second")
    func rate() throws {
        let clock = Clock()
        let handler = ADMRequests.handler {
            $0.messagesPerSecondMaximum = 2
            $0.wallClockMilliseconds = { clock.milliseconds.value }
        }
        let token = try ADMRequests.token(handler)
        #expect(try (0..<3).map { _ in try ADMRequests.send(handler, token: token).status } == [200, 200, 429])
        let refused = try ADMRequests.send(handler, token: token)
        #expect(refused.fields.contains(HTTPField("Retry-After", "1")))
        clock.milliseconds.update { $0 += 1_000 }
        #expect(try ADMRequests.send(handler, token: token).status == 200)
    }

    @Test("A script gives registration IDs their states, step after step")
    func script() throws {
        let script = try RegistrationScript(
            parsing: Array(
                """
                {"registration":"amzn1.adm-registration.v3.a","answer":"unavailable","retry_after":"5","times":1}
                {"registration":"amzn1.adm-registration.v3.a","answer":"throttled","times":1}
                {"registration":"amzn1.adm-registration.v3.b","answer":"unregistered"}
                {"registration":"amzn1.adm-registration.v3.c","answer":"replaced","successor":"new"}
                """.utf8))
        let handler = ADMRequests.handler { $0.script = script }
        let first = try ADMRequests.send(handler)
        #expect(first.status == 503)
        #expect(first.fields.contains(HTTPField("Retry-After", "5")))
        #expect(try ADMRequests.send(handler).status == 429)
        #expect(try ADMRequests.send(handler).status == 200)
        let gone = try ADMRequests.send(handler, to: "amzn1.adm-registration.v3.b")
        #expect(ADMRequests.text(gone) == #"{"reason":"Unregistered"}"#)
        let replaced = try ADMRequests.send(handler, to: "amzn1.adm-registration.v3.c")
        #expect(ADMRequests.text(replaced) == #"{"registrationID":"new"}"#)
        #expect(ADMRequests.text(try ADMRequests.send(handler, to: "other")) == #"{"reason":"InvalidRegistrationId"}"#)
    }

    @Test(
        "A line of a script that is wrong is named",
        arguments: [
            "[]", "{}", #"{"registration":"a"}"#, #"{"registration":"a","answer":"gone"}"#,
            #"{"registration":"a","answer":"replaced"}"#, #"{"registration":"a","answer":"lose","times":0}"#,
            #"{"registration":"a","answer":"lose","extra":1}"#,
        ])
    func badScripts(_ line: String) {
        #expect {
            try RegistrationScript(parsing: Array("\n\(line)".utf8))
        } throws: { error in
            "\(error)".contains("line 2 of the script")
        }
    }

    @Test("Any other path is none")
    func paths() throws {
        for path in ["/", "/messaging/registrations/a", "/messaging/registrations/a/messages/b"] {
            let request = try ADMRequests.request(path, fields: [], body: "")
            #expect(try ADMRequests.response(ADMRequests.handler(), request).status == 404)
        }
    }
}
