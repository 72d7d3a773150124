import HTTPClient
internal import JSON
import Notifications

/// Reads the bodies of answers: `{"registrationID":"…"}` of 200, `{"reason":"…"}` of all others.
///
/// Any other body (empty, no JSON, a value that is no string) says nothing: the status counts. Source: Amazon, "Send a
/// message" (ADM), section "Response format".
struct ADMAnswerParser {
    private let parser = JSONParser(depthMaximum: 8, bytesMaximum: PostAnswer.bodyBytesMaximum)

    /// Makes an answer of the parts of one that does not accept a push.
    ///
    /// Its reason is a word of `ADMReason`; another one than Amazon documents is cut and made printable.
    func refusal(status: Int, body: [UInt8], retryAfterSeconds: Int?) -> PushAnswer {
        var answer = PushAnswer(status: status, retryAfterSeconds: retryAfterSeconds)
        let parsed = body.isEmpty ? nil : try? parser.parse(body, refusingRepeatedKeys: false)
        answer.reason = ServiceExplanation.reason((parsed?["reason"]?.string ?? "").utf8)
        answer.explanation = ServiceExplanation.body(body, parsed, reason: answer.reason)
        return answer
    }

    /// The registration ID under which ADM knows the installation from now on; nil if the body has none that is one.
    func registrationID(in body: [UInt8]) -> DeviceToken? {
        guard !body.isEmpty, let parsed = try? parser.parse(body, refusingRepeatedKeys: false) else { return nil }
        return parsed["registrationID"]?.string.flatMap { DeviceToken(text: Array($0.utf8)) }
    }
}
