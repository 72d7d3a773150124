import HTTPServer
import PushServiceSimulator
import PushTestKit
import Testing

@testable import ADMSimulator

@Suite("Simulator of ADM: what it takes")
struct ADMJudgeTests {
    private static let granted = "grant_type=client_credentials"
    static let registration = "amzn1.adm-registration.v3.abc"
    private static let fields = [
        HTTPField("content-type", "application/json"), HTTPField("accept", "application/json"),
        HTTPField("x-amzn-type-version", "com.amazon.device.messaging.ADMMessage@1.0"),
        HTTPField("x-amzn-accept-type", "com.amazon.device.messaging.ADMSendResult@1.0"),
    ]

    private static func handler(_ change: (inout ADMSimulatorConfiguration) -> Void = { _ in }) -> ADMHandler {
        var configuration = ADMSimulatorConfiguration()
        configuration.clients = ["client": "secret+&="]
        configuration.recordsInMemoryMaximum = 100
        change(&configuration)
        return ADMHandler(configuration)
    }

    private static func request(
        _ path: String, method: String = "POST", fields: [HTTPField], body: String
    ) throws -> HTTPRequest {
        HTTPRequest(
            method: method, target: try #require(HTTPTarget(path)), fields: fields, body: Array(body.utf8))
    }

    private static func tokenAnswer(
        _ handler: ADMHandler,
        _ form: String = "grant_type=client_credentials&scope=messaging%3Apush&client_id=client"
            + "&client_secret=secret%2B%26%3D"
    ) throws -> HTTPResponse {
        let type = HTTPField("content-type", "application/x-www-form-urlencoded;charset=UTF-8")
        return try response(handler, try request("/auth/O2/token", fields: [type], body: form))
    }

    private static func response(_ handler: ADMHandler, _ request: HTTPRequest) throws -> HTTPResponse {
        guard case .now(let response) = handler.answer(request) else { throw Unanswered() }
        return response
    }

    private struct Unanswered: Error {}

    private static func token(_ handler: ADMHandler) throws -> String {
        let body = String(decoding: try tokenAnswer(handler).body, as: UTF8.self)
        return try #require(body.split(separator: "\"").first { $0.hasPrefix("Atc|") }.map(String.init))
    }

    private static func send(
        _ handler: ADMHandler, to registration: String = registration, token: String? = nil,
        without field: String? = nil, body: String = #"{"data":{"a":"b"}}"#
    ) throws -> HTTPResponse {
        let authorization = HTTPField("authorization", "Bearer \(try token ?? Self.token(handler))")
        return try response(
            handler,
            try request(
                "/messaging/registrations/\(registration)/messages",
                fields: (fields + [authorization]).filter { $0.name != field }, body: body))
    }

    private static func text(_ response: HTTPResponse) -> String { String(decoding: response.body, as: UTF8.self) }

    @Test("A good message is accepted, recorded, and a repetition is a duplicate")
    func accepts() throws {
        let handler = Self.handler()
        let body = #"{"expiresAfter":60,"consolidationKey":"k","data":{"a":"b"}}"#
        for _ in 0..<2 {
            let answer = try Self.send(handler, body: body)
            #expect(answer.status == 200)
            #expect(Self.text(answer) == #"{"registrationID":"\#(Self.registration)"}"#)
        }
        let summary = handler.summary()
        #expect((summary.accepted, summary.duplicates, summary.tokens.issued) == (2, 1, 2))
        let record = try #require(handler.log.records.last)
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
        let answer = try Self.send(Self.handler(), body: body)
        #expect(answer.status == status)
        #expect(Self.text(answer) == #"{"reason":"\#(reason)"}"#)
    }

    @Test("Data of 6 KB are taken")
    func largest() throws {
        let body = #"{"data":{"a":"\#(String(repeating: "x", count: 6_136))"}}"#
        #expect(try Self.send(Self.handler(), body: body).status == 200)
    }

    @Test(
        "A request without one of its headers is refused",
        arguments: [
            ("authorization", 401), ("content-type", 400), ("accept", 400), ("x-amzn-type-version", 400),
            ("x-amzn-accept-type", 400),
        ])
    func headers(_ name: String, _ status: Int) throws {
        #expect(try Self.send(Self.handler(), without: name).status == status)
    }

    @Test("A token that is unknown, expired or revoked is refused")
    func tokens() throws {
        let clock = Clock()
        let handler = Self.handler { $0.wallClockMilliseconds = { clock.milliseconds.value } }
        let token = try Self.token(handler)
        #expect(try Self.send(handler, token: token).status == 200)
        clock.milliseconds.update { $0 += 3_599_999 }
        #expect(try Self.send(handler, token: token).status == 200)
        clock.milliseconds.update { $0 += 1 }
        #expect(Self.text(try Self.send(handler, token: token)) == #"{"reason":"AccessTokenExpired"}"#)
        let second = try Self.token(handler)
        handler.tokens.revokeAll()
        #expect(try Self.send(handler, token: second).status == 401)
        #expect(try Self.send(handler, token: "Atc|none").status == 401)
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
        let handler = Self.handler()
        let answer = try Self.tokenAnswer(handler, form)
        #expect(answer.status == status)
        #expect(Self.text(answer).contains("\"\(error)\""))
        #expect(handler.summary().tokens.refused == 1)
    }

    @Test("More messages than the rate allows are refused, until the next second")
    func rate() throws {
        let clock = Clock()
        let handler = Self.handler {
            $0.messagesPerSecondMaximum = 2
            $0.wallClockMilliseconds = { clock.milliseconds.value }
        }
        let token = try Self.token(handler)
        #expect(try (0..<3).map { _ in try Self.send(handler, token: token).status } == [200, 200, 429])
        let refused = try Self.send(handler, token: token)
        #expect(refused.fields.contains(HTTPField("Retry-After", "1")))
        clock.milliseconds.update { $0 += 1_000 }
        #expect(try Self.send(handler, token: token).status == 200)
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
        let handler = Self.handler { $0.script = script }
        let first = try Self.send(handler)
        #expect(first.status == 503)
        #expect(first.fields.contains(HTTPField("Retry-After", "5")))
        #expect(try Self.send(handler).status == 429)
        #expect(try Self.send(handler).status == 200)
        let gone = try Self.send(handler, to: "amzn1.adm-registration.v3.b")
        #expect(Self.text(gone) == #"{"reason":"Unregistered"}"#)
        let replaced = try Self.send(handler, to: "amzn1.adm-registration.v3.c")
        #expect(Self.text(replaced) == #"{"registrationID":"new"}"#)
        #expect(Self.text(try Self.send(handler, to: "other")) == #"{"reason":"InvalidRegistrationId"}"#)
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
            let request = try Self.request(path, fields: [], body: "")
            #expect(try Self.response(Self.handler(), request).status == 404)
        }
    }
}
