import Foundation
import Notifications
import PushTestKit
import Testing

@testable import ServiceClient
@testable import WebPushTransport

@Suite("Answers of browsers' push services")
struct WebPushAnswerParserTests {
    @Test(
        "Each service's words become ours",
        arguments: [
            (
                .google, 403,
                "the VAPID credentials in the authorization header do not correspond to the credentials used to create "
                    + "the subscriptions.", WebPushReason.otherKey
            ),
            (.google, 403, "permission denied: invalid JWT provided", WebPushReason.tokenRefused),
            (.google, 400, "UnauthorizedRegistration", WebPushReason.tokenRefused),
            (.google, 401, "authorization header must be specified.", WebPushReason.tokenRefused),
            (.google, 400, "the binary data passed in the request must be less than 4096 bytes", ""),
            (.google, 410, "push subscription has unsubscribed or expired.", ""),
            (.mozilla, 401, #"{"code":401,"errno":109,"error":"Unauthorized"}"#, WebPushReason.tokenRefused),
            (.mozilla, 410, #"{"code":410,"errno":106,"error":"Gone"}"#, "errno-106"),
            (.mozilla, 413, #"{"code":413,"errno":104}"#, "errno-104"),
            (.mozilla, 503, "<html>", ""),
            (.apple, 400, #"{"reason":"VapidPkHashMismatch"}"#, WebPushReason.otherKey),
            (.apple, 403, #"{"reason":"BadJwtToken"}"#, WebPushReason.tokenRefused),
            (.apple, 400, #"{"reason":"BadWebPushTopic"}"#, "BadWebPushTopic"),
            (.apple, 400, #"{"reason":7}"#, ""),
            (.microsoft, 401, "", WebPushReason.tokenRefused),
            (.microsoft, 406, "", ""),
            (.other, 401, #"{"errno":109}"#, WebPushReason.tokenRefused),
            (.other, 403, #"{"reason":"VapidPkHashMismatch"}"#, WebPushReason.otherKey),
            (.other, 403, "invalid JWT", WebPushReason.tokenRefused),
        ] as [(WebPushVendor, Int, String, String)])
    func words(vendor: WebPushVendor, status: Int, body: String, reason: String) {
        let answer = WebPushAnswerParser(vendor: vendor)
            .answer(status: status, body: Array(body.utf8), retryAfterSeconds: 5)
        #expect(answer.status == status && answer.reason == reason && answer.retryAfterSeconds == 5)
    }

    @Test(
        "What a service explains is kept beside its reason",
        arguments: [
            (
                .google, "invalid urgency header defined. Valid options are: high, normal and low.",
                "invalid urgency header defined. Valid options are: high, normal and low."
            ),
            (
                .mozilla, #"{"code":400,"errno":110,"error":"Bad Request","message":"TTL is no number"}"#,
                "TTL is no number"
            ),
            (.apple, #"{"reason":"BadTtl"}"#, nil), (.microsoft, "", nil), (.other, "no such topic", "no such topic"),
        ] as [(WebPushVendor, String, String?)])
    func explanations(vendor: WebPushVendor, body: String, explanation: String?) {
        let answer = WebPushAnswerParser(vendor: vendor)
            .answer(status: 400, body: Array(body.utf8), retryAfterSeconds: nil)
        #expect(answer.explanation == explanation)
    }

    @Test("Windows' service explains in a header field")
    func explanationField() {
        var answer = PartialAnswer()
        for (name, value) in [
            ("x-wns-error-descriptiox", "no"), ("x-wns-error-description", "The channel\u{7} expired"),
        ] {
            Array(name.utf8).withUnsafeBufferPointer { name in
                Array(value.utf8).withUnsafeBufferPointer { _ = answer.add(name: name, value: $0) }
            }
        }
        #expect(answer.explanation == "The channel expired")
        answer.reset(stream: 3)
        #expect(answer.explanation == nil)
    }

    @Test(
        "A reason that nobody documents is no reason, whoever gives it",
        arguments: [.google, .mozilla, .apple, .microsoft, .other] as [WebPushVendor])
    func unknownWords(vendor: WebPushVendor) {
        for number in 0..<300 {
            for body in [#"{"reason":"Made-up\#(number)"}"#, #"{"errno":\#(100_000 + number)}"#, "made up \(number)"] {
                let answer = WebPushAnswerParser(vendor: vendor).answer(
                    status: 400, body: Array(body.utf8), retryAfterSeconds: nil)
                #expect(answer.reason.isEmpty)
            }
        }
        let documented = WebPushAnswerParser(vendor: .other).answer(
            status: 400, body: Array(#"{"reason":"BadTtl"}"#.utf8), retryAfterSeconds: nil)
        #expect(documented.reason.isEmpty, "a stranger is no service that documents it")
    }

    @Test(
        "Hosts are recognized by their whole name or by a suffix that begins with a dot",
        arguments: [
            ("fcm.googleapis.com", .google), ("updates.push.services.mozilla.com", .mozilla),
            ("web.push.apple.com", .apple), ("wns2-by3p.notify.windows.com", .microsoft),
            ("evilpush.apple.com.example", .other), ("xpush.apple.com", .other), ("push.example", .other),
        ] as [(String, WebPushVendor)])
    func vendors(host: String, vendor: WebPushVendor) { #expect(WebPushVendor(host: host) == vendor) }

    @Test("The time to live counts from now, within what the service takes")
    func timeToLive() {
        func seconds(_ expiration: Int64?, _ vendor: WebPushVendor) -> Int64 {
            WebPushAdapter.timeToLive(until: expiration, nowSeconds: 1_000, vendor)
        }
        #expect(seconds(nil, .google) == 2_419_200)
        #expect(seconds(1_060, .google) == 60)
        #expect(seconds(0, .google) == 0 && seconds(1_000, .mozilla) == 0 && seconds(.min, .other) == 0)
        #expect(seconds(0, .microsoft) == 1 && seconds(999, .apple) == 1)
        #expect(seconds(.max, .apple) == 2_419_200)
    }

    @Test(
        "The path is the endpoint without its origin and fragment",
        arguments: [
            ("https://a.example/x/y?z=1", "/x/y?z=1"), ("https://a.example/x#y", "/x"), ("https://a.example", ""),
            ("https://a.example?x", "?x"), ("https", ""), ("https://[::1]:8/x", "/x"),
        ])
    func paths(endpoint: String, path: String) {
        let bytes = Array(endpoint.utf8)
        let range = bytes.withUnsafeBufferPointer { EndpointPath.range(in: $0) }
        #expect(String(decoding: bytes[range], as: UTF8.self) == path)
    }

    @Test("An answer about the token asks for another one, and one about the subscription does not")
    func meanings() {
        let adapter = WebPushAdapter(authority: "a.example", host: "a.example") { 0 }
        let renewed: AnswerMeaning = [.authorizationRefused, .authorizationExpired]
        #expect(adapter.meaning(of: PushAnswer(status: 403, reason: WebPushReason.tokenRefused)) == renewed)
        #expect(adapter.meaning(of: PushAnswer(status: 400, reason: WebPushReason.tokenRefused)) == renewed)
        #expect(adapter.meaning(of: PushAnswer(status: 401)) == renewed)
        #expect(adapter.meaning(of: PushAnswer(status: 403, reason: WebPushReason.otherKey)).isEmpty)
        #expect(adapter.meaning(of: PushAnswer(status: 410)).isEmpty)
    }

    @Test("A wait is read from seconds and from a date to come, and a date that has passed names none")
    func retryAfter() throws {
        func seconds(_ text: String) -> Int? {
            var answer = PartialAnswer()
            Array("retry-after".utf8).withUnsafeBufferPointer { name in
                Array(text.utf8).withUnsafeBufferPointer { _ = answer.add(name: name, value: $0) }
            }
            return answer.retryAfterSeconds
        }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        let later = try #require(seconds(formatter.string(from: Date(timeIntervalSinceNow: 86_400))))
        #expect((1...86_400).contains(later))
        #expect(seconds("900") == 900)
        for text in ["Sun, 06 Nov 1994 08:49:37 GMT", "soon", "-5", "1e3"] { #expect(seconds(text) == nil) }
    }
}
