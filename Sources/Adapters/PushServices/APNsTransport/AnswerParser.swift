import Essentials
internal import JSON
public import Notifications
public import ServiceClient

/// Reads the bodies of rejections, `{"reason":"…","timestamp":…}`, and of GOAWAY, which has the same form.
///
/// Any other body (empty, no JSON, a reason that is no string) gives an empty reason: the status counts.
struct AnswerParser {
    private let parser = JSONParser(depthMaximum: 8, bytesMaximum: PartialAnswer.bodyBytesMaximum)

    /// Makes an answer of its parts.
    ///
    /// - Parameters:
    ///   - status: the HTTP status.
    ///   - body: at most `PartialAnswer.bodyBytesMaximum` bytes.
    ///   - retryAfterSeconds: the header `retry-after`.
    /// - Returns: the answer; `deadSinceMilliseconds` only for status 410, as Apple documents it.
    func answer(status: Int, body: [UInt8], retryAfterSeconds: Int?) -> PushAnswer {
        var answer = PushAnswer(status: status, retryAfterSeconds: retryAfterSeconds)
        guard status != 200, !body.isEmpty else { return answer }
        guard let parsed = try? parser.parse(body, refusingRepeatedKeys: false) else {
            // APNs has no such bodies, but what stands before it may.
            answer.explanation = ServiceExplanation.body(body, nil, reason: "")
            return answer
        }
        answer.reason = reason(in: parsed)
        if answer.reason.isEmpty { answer.explanation = ServiceExplanation.body(body, parsed, reason: "") }
        if status == 410, let since = parsed["timestamp"]?.int64 {
            answer.deadSinceMilliseconds = WallTime(milliseconds: since).milliseconds
        }
        return answer
    }

    /// The reason in the debug data of a GOAWAY; empty if there is none.
    func reason(inGoAway debugData: [UInt8]) -> String {
        guard !debugData.isEmpty, let parsed = try? parser.parse(debugData, refusingRepeatedKeys: false) else {
            return ""
        }
        return reason(in: parsed)
    }

    /// Gives back the memory that is kept from answer to answer.
    func releaseMemory() { parser.relinquish(retainedBytes: 0) }

    private func reason(in value: JSONValue) -> String {
        value["reason"]?.withUTF8 { KnownReasons.reason($0) } ?? ""
    }
}

extension EndpointAnswer {
    /// The status with the reason that the body gives.
    public var pushAnswer: PushAnswer {
        AnswerParser().answer(
            status: status, body: Array(body.prefix(PartialAnswer.bodyBytesMaximum)),
            retryAfterSeconds: retryAfterSeconds)
    }
}

/// Keeps reasons as strings that are there already: a rejected push allocates none.
enum KnownReasons {
    /// The string for a reason's bytes; an unknown reason is copied, cut, and made printable.
    static func reason(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        if let known = APNsReason.all.first(where: { $0.utf8.count == bytes.count && $0.utf8.elementsEqual(bytes) }) {
            return known
        }
        return ServiceExplanation.reason(bytes)
    }
}

/// The meaning of an answer for the provider token, the device token and the connection.
extension AnswerMeaning {
    /// Judges an answer of APNs.
    ///
    /// A connection that has seen an expired token may refuse newer ones; one that has seen a token of one key refuses
    /// those of an unrelated key (Apple, "Handling notification responses from APNs").
    init(ofAPNs answer: PushAnswer) {
        switch (answer.status, answer.reason) {
        case (403, "ExpiredProviderToken"): self = [.authorizationRefused, .authorizationExpired, .connectionWedged]
        case (403, "UnrelatedKeyIdInToken"): self = [.authorizationRefused, .connectionWedged]
        case (403, "BadEnvironmentKeyIdInToken"): self = .authorizationRefused
        case (403, let reason) where reason.hasSuffix("ProviderToken"): self = .authorizationRefused
        case (503, "Shutdown"): self = .shutdownAnnounced
        case (429, "TooManyProviderTokenUpdates"): self = .connectionSuspect
        case (400, "BadDeviceToken"), (400, "DeviceTokenNotForTopic"), (410, _), (429, "TooManyRequests"):
            self = .tokenBlamed
        default: self = []
        }
    }
}
