import Essentials
internal import JSON
import Notifications
internal import ServiceClient

/// Reads the errors of FCM, and those of Google's front end, into a reason.
///
/// An error of FCM itself has the detail `FcmError`, whose `errorCode` is the reason; only that says something about
/// the token. Errors of the front end have at most an `ErrorInfo` (AIP-193). A page of HTML, an empty body or one that
/// is cut has no reason: then the status counts.
struct FCMAnswerParser {
    private static let fcmErrorType = "type.googleapis.com/google.firebase.fcm.v1.FcmError"

    private let parser = JSONParser(depthMaximum: 16, bytesMaximum: PartialAnswer.bodyBytesMaximum)

    /// Makes an answer of its parts.
    ///
    /// - Parameters:
    ///   - status: the HTTP status.
    ///   - body: at most `PartialAnswer.bodyBytesMaximum` bytes.
    ///   - retryAfterSeconds: the header `retry-after`.
    /// - Returns: the answer with its reason.
    func answer(status: Int, body: [UInt8], retryAfterSeconds: Int?) -> PushAnswer {
        var answer = PushAnswer(status: status, retryAfterSeconds: retryAfterSeconds)
        guard status != 200, !body.isEmpty else { return answer }
        let parsed = try? parser.parse(body, refusingRepeatedKeys: false)
        guard let error = parsed?["error"], error.kind == .object else {
            answer.explanation = ServiceExplanation.body(body, parsed, reason: "")
            return answer
        }
        let message = error["message"]?.string ?? ""
        let details = error["details"]?.array.map { Array($0) } ?? []
        let code = details.first { $0["@type"]?.string == Self.fcmErrorType }?["errorCode"]?.string
        answer.reason =
            if let code {
                Self.reason(of: code, message: message, details)
            } else {
                Self.reason(ofFrontEnd: error, message: message, details)
            }
        // That a registration is gone needs no words, and happens often.
        if answer.reason != FCMReason.unregistered { answer.explanation = Self.explanation(message, details) }
        return answer
    }

    /// The message, and the violations that it does not name (google.rpc `BadRequest` and `QuotaFailure`).
    private static func explanation(_ message: String, _ details: [JSONValue]) -> String? {
        let violations = violations("fieldViolations", details) + violations("violations", details)
        let texts = violations.prefix(4).compactMap { violation -> String? in
            let place = violation["field"]?.string ?? violation["subject"]?.string ?? ""
            let description = violation["description"]?.string ?? ""
            guard !message.contains(description) || !message.contains(place) else { return nil }
            return [place, description].filter { !$0.isEmpty }.joined(separator: ": ")
        }
        return ServiceExplanation.text(([message] + texts).filter { !$0.isEmpty }.joined(separator: "; "))
    }

    /// Gives back the memory that is kept from answer to answer.
    func releaseMemory() { parser.relinquish(retainedBytes: 0) }

    /// The name of an accepted message, `projects/PROJECT/messages/ID` (Google, REST reference of FCM v1,
    /// `projects.messages.send`); nil if the body does not say it.
    func messageName(in body: [UInt8]) -> String? {
        guard let name = (try? parser.parse(body, refusingRepeatedKeys: false))?["name"]?.string, !name.isEmpty else {
            return nil
        }
        return name
    }

    /// FCM's code, made more exact where the rest of the answer allows it.
    private static func reason(of code: String, message: String, _ details: [JSONValue]) -> String {
        switch code {
        case FCMReason.invalidArgument:
            isAboutToken(message, details) ? FCMReason.invalidToken : FCMReason.invalidArgument
        case FCMReason.quotaExceeded:
            isAboutDevice(details) ? FCMReason.deviceQuotaExceeded : FCMReason.quotaExceeded
        default: ServiceExplanation.reason(code.utf8)
        }
    }

    private static func reason(ofFrontEnd error: JSONValue, message: String, _ details: [JSONValue]) -> String {
        // The texts were seen in reports: FCM's pages do not list them.
        if message.hasPrefix("Fail to resolve resource") { return FCMReason.projectUnknown }
        if isAboutToken("", details) { return FCMReason.invalidToken }
        let reason = details.lazy.compactMap { $0["reason"]?.string }.first ?? error["status"]?.string ?? ""
        return ServiceExplanation.reason(reason.utf8)
    }

    private static func isAboutToken(_ message: String, _ details: [JSONValue]) -> Bool {
        if message.contains("registration token") { return true }
        return violations("fieldViolations", details).contains { violation in
            let field = violation["field"]?.string
            return field == "message.token" || field == "message.fid"
        }
    }

    /// Whether the quota of one device is exceeded; in doubt it is the project's, which slows all down.
    ///
    /// Google's "Throttling and quotas" names a device's quota, but no page shows its `QuotaFailure`.
    private static func isAboutDevice(_ details: [JSONValue]) -> Bool {
        violations("violations", details).contains { violation in
            [violation["subject"]?.string, violation["description"]?.string].contains { text in
                text?.lowercased().contains("device") ?? false
            }
        }
    }

    private static func violations(_ name: StaticString, _ details: [JSONValue]) -> [JSONValue] {
        details.flatMap { $0[name]?.array.map { Array($0) } ?? [] }
    }
}
