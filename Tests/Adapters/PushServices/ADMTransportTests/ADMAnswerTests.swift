import Metrics
import Notifications
import PushTestKit
import ServiceClient
import StructuredLogging
import Testing

@testable import ADMTransport
@testable import HTTPClient

@Suite("Requests to ADM, and its answers")
struct ADMAnswerTests {
    private static func token(_ text: String) throws -> DeviceToken {
        try #require(DeviceToken(text: Array(text.utf8)))
    }

    private static func push(_ token: String = "amzn1.adm-registration.v3.abc") throws -> PushRequest {
        var builder = ADMMessageBuilder()
        var notification = Notifications.Notification()
        notification.body = "B"
        return PushRequest(
            identifier: 1, route: 0, token: try Self.token(token), apnsID: APNsIdentifier(high: 0, low: 1),
            content: try builder.content(of: notification, options: PushOptions(expirationSeconds: 1_300)))
    }

    private static func answer(_ status: Int, _ body: String, retryAfter: String? = nil) -> PostAnswer {
        var answer = PostAnswer()
        answer.status = status
        answer.body = Array(body.utf8)
        answer.fields = retryAfter.map { [("retry-after", $0)] } ?? []
        return answer
    }

    private static func adapter(_ log: Watched<[String]> = Watched([]), _ replaced: Counter? = nil) -> ADMAdapter {
        let logger = Logger(minimum: .debug) { _, event, fields in
            log.update { $0.append("\(event) " + fields.map { "\($0.name)=\($0.value)" }.joined(separator: " ")) }
        }
        let counter = replaced ?? MetricsRegistry().counter("replaced", help: "")
        return ADMAdapter(app: "chat", logger: logger, replaced: counter)
    }

    @Test("A request has the path, the headers and the message that Amazon documents")
    func request() throws {
        let request = Self.adapter().request(
            for: try Self.push("amzn1.adm/../+=%"), authorization: Array("Bearer Atc|1".utf8),
            destination: .init(host: "api.amazon.com"), nowSeconds: 1_000)
        #expect(request.path == "/messaging/registrations/amzn1.adm%2F..%2F%2B%3D%25/messages")
        #expect(
            request.fields.map { "\($0.name): \($0.value)" } == [
                "Authorization: Bearer Atc|1", "Content-Type: application/json", "Accept: application/json",
                "X-Amzn-Type-Version: com.amazon.device.messaging.ADMMessage@1.0",
                "X-Amzn-Accept-Type: com.amazon.device.messaging.ADMSendResult@1.0",
            ])
        #expect(String(decoding: request.body, as: UTF8.self) == #"{"expiresAfter":300,"data":{"body":"B"}}"#)
        #expect(request.destination.host == "api.amazon.com")
    }

    @Test("Each documented reason is read as it is", arguments: ADMReason.all)
    func reasons(_ reason: String) throws {
        let answer = Self.adapter().answer(
            Self.answer(400, #"{"reason":"\#(reason)"}"#), to: try Self.push(), nowSeconds: 0)
        #expect(answer == PushAnswer(status: 400, reason: reason))
    }

    @Test(
        "A body that is no reason says nothing, and an unknown reason is made printable and cut",
        arguments: [
            ("", ""), ("<html>", ""), ("[]", ""), (#"{"reason":7}"#, ""), (#"{"message":"x"}"#, ""),
            (#"{"reason":"New Reason\n"}"#, "NewReason"),
            (#"{"reason":"\#(String(repeating: "x", count: 100))"}"#, String(repeating: "x", count: 64)),
        ])
    func otherBodies(_ body: String, _ reason: String) throws {
        var answer = Self.adapter().answer(
            Self.answer(503, body, retryAfter: "9"), to: try Self.push(), nowSeconds: 0)
        answer.explanation = nil
        #expect(answer == PushAnswer(status: 503, reason: reason, retryAfterSeconds: 9))
    }

    @Test(
        "What ADM explains beside the reason is kept",
        arguments: [
            (#"{"reason":"InvalidData","message":"data must be an object"}"#, "data must be an object"),
            (#"{"message":"Too busy"}"#, "Too busy"), ("<html><h1>Bad Gateway</h1>", "Bad Gateway"),
            (#"{"reason":"InvalidData"}"#, nil), ("", nil),
        ])
    func explanations(_ body: String, _ explanation: String?) throws {
        let answer = Self.adapter().answer(Self.answer(400, body), to: try Self.push(), nowSeconds: 0)
        #expect(answer.explanation == explanation)
    }

    @Test("Another registration ID in an acceptance is the successor, counted and logged, and neither ID is shown")
    func replaced() throws {
        let log = Watched<[String]>([])
        let counter = MetricsRegistry().counter("replaced", help: "")
        let adapter = Self.adapter(log, counter)
        let push = try Self.push()
        for body in [#"{"registrationID":"amzn1.adm-registration.v3.abc"}"#, "", "{}", #"{"registrationID":"a b"}"#] {
            #expect(adapter.answer(Self.answer(200, body), to: push, nowSeconds: 0) == PushAnswer(status: 200))
        }
        #expect(counter.value == 0)
        let answer = Self.answer(200, #"{"registrationID":"amzn1.adm-registration.v3.successor"}"#)
        let successor = try #require(DeviceToken(text: Array("amzn1.adm-registration.v3.successor".utf8)))
        #expect(
            adapter.answer(answer, to: push, nowSeconds: 0) == PushAnswer(status: 200, successor: successor))
        #expect(counter.value == 1)
        #expect(log.value.count == 1)
        let line = try #require(log.value.first)
        #expect(line.hasPrefix("push.registration.replaced "))
        #expect(!line.contains("v3"))
    }

    @Test("Only 401 says that the access token has expired")
    func meaning() {
        for status in [200, 400, 403, 413, 429, 500, 503] {
            #expect(!Self.adapter().meaning(of: PushAnswer(status: status)).contains(.authorizationExpired))
        }
        #expect(Self.adapter().meaning(of: PushAnswer(status: 401)).contains(.authorizationExpired))
    }
}
