import HTTPClient
internal import JSON
import Notifications

/// Reads the bodies of answers: `{"registrationID":"…"}` of 200, `{"reason":"…"}` of all others.
///
/// Any other body (empty, no JSON, a value that is no string) says nothing: the status counts. Source: Amazon, "Send a
/// message" (ADM), section "Response format".
struct ADMAnswerParser {
    /// The longest unknown reason that is kept, in bytes: more is not a word.
    private static let reasonBytesMaximum = 64

    private let parser = JSONParser(depthMaximum: 8, bytesMaximum: PostAnswer.bodyBytesMaximum)

    /// Makes an answer of the parts of one that does not accept a push.
    ///
    /// Its reason is a word of `ADMReason`; another one than Amazon documents is cut and made printable.
    func refusal(status: Int, body: [UInt8], retryAfterSeconds: Int?) -> PushAnswer {
        var answer = PushAnswer(status: status, retryAfterSeconds: retryAfterSeconds)
        let parsed = body.isEmpty ? nil : try? parser.parse(body, refusingRepeatedKeys: false)
        answer.reason = Self.reason(parsed?["reason"]?.string ?? "")
        answer.explanation = ServiceExplanation.body(body, parsed, reason: answer.reason)
        return answer
    }

    private static func reason(_ text: String) -> String {
        if let known = ADMReason.all.first(where: { $0 == text }) { return known }
        let kept = text.utf8.prefix(reasonBytesMaximum).filter { $0 > 0x20 && $0 < 0x7f }
        return String(decoding: kept, as: UTF8.self)
    }

    /// The registration ID under which ADM knows the installation from now on; nil if the body has none that is one.
    func registrationID(in body: [UInt8]) -> DeviceToken? {
        text("registrationID", in: body).flatMap { DeviceToken(text: Array($0.utf8)) }
    }

    private func text(_ name: StaticString, in body: [UInt8]) -> String? {
        guard !body.isEmpty, let parsed = try? parser.parse(body, refusingRepeatedKeys: false) else { return nil }
        return parsed[name]?.string
    }
}
