internal import JSON
import Notifications
internal import ServiceClient

/// Reads refusals, which each service words in its own way, into the words of `WebPushReason`.
///
/// | service | body |
/// |---|---|
/// | Google | a sentence |
/// | Mozilla | `{"code":401,"errno":109,"error":"…","message":"…"}` (autopush-rs) |
/// | Apple | `{"reason":"BadJwtToken"}` |
/// | Microsoft | empty; header fields say more |
///
/// Only words that a service documents are kept, so that their number is bounded. A service that is not
/// known may use any of these forms to speak of the key or the token. All else that it says is dropped: then the reason
/// is empty, and the status counts.
struct WebPushAnswerParser {
    /// Apple's words for a token that it does not take ("Sending web push notifications in web apps and browsers").
    private static let appleTokenReasons: Set<String> = ["BadJwtToken", "BadVapidPublicKey", "BadAuthorizationHeader"]
    /// autopush's number for any fault of a VAPID token.
    private static let mozillaTokenNumber: Int64 = 109

    private let parser = JSONParser(depthMaximum: 8, bytesMaximum: PartialAnswer.bodyBytesMaximum)
    private let vendor: WebPushVendor

    init(vendor: WebPushVendor) { self.vendor = vendor }

    /// Makes an answer of its parts.
    ///
    /// - Parameters:
    ///   - status: the HTTP status.
    ///   - body: at most `PartialAnswer.bodyBytesMaximum` bytes.
    ///   - retryAfterSeconds: the field `retry-after`.
    /// - Returns: the answer.
    func answer(status: Int, body: [UInt8], retryAfterSeconds: Int?) -> PushAnswer {
        var answer = PushAnswer(status: status, retryAfterSeconds: retryAfterSeconds)
        let parsed = body.isEmpty ? nil : try? parser.parse(body, refusingRepeatedKeys: false)
        switch vendor {
        case .google: answer.reason = Self.reason(inSentence: body, status: status)
        case .mozilla, .apple: answer.reason = parsed.flatMap(Self.reason(inJSON:)) ?? ""
        case .microsoft: break
        case .other:
            let word = parsed.flatMap(Self.reason(inJSON:))
            let isAboutKey = word == WebPushReason.otherKey || word == WebPushReason.tokenRefused
            answer.reason = isAboutKey ? word ?? "" : Self.reason(inSentence: body, status: status)
        }
        answer.explanation = ServiceExplanation.body(body, parsed, reason: answer.reason)
        if answer.reason.isEmpty, status == 401 { answer.reason = WebPushReason.tokenRefused }
        return answer
    }

    /// Gives back the memory that is kept from answer to answer.
    func releaseMemory() { parser.relinquish(retainedBytes: 0) }

    private static func reason(inJSON parsed: JSONValue) -> String? {
        if let number = parsed["errno"]?.int64 {
            if number == mozillaTokenNumber { return WebPushReason.tokenRefused }
            return WebPushReason.mozillaNumbers.contains(number) ? WebPushReason.word(ofMozillaNumber: number) : nil
        }
        guard let word = parsed["reason"]?.string else { return nil }
        if word == "VapidPkHashMismatch" { return WebPushReason.otherKey }
        if appleTokenReasons.contains(word) { return WebPushReason.tokenRefused }
        return APNsReason.ofBrowsers.first { $0 == word } ?? APNsReason.all.first { $0 == word }
    }

    /// Looks for what Google's sentences say of keys and tokens.
    private static func reason(inSentence body: [UInt8], status: Int) -> String {
        guard [400, 401, 403].contains(status) else { return "" }
        let text = String(decoding: body.prefix(1_024), as: UTF8.self)
        if text.contains("do not correspond") { return WebPushReason.otherKey }
        let isAboutToken = text.contains("UnauthorizedRegistration") || text.contains("JWT")
        return isAboutToken || status == 403 && text.contains("VAPID") ? WebPushReason.tokenRefused : ""
    }
}
