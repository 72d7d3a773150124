import Essentials
internal import JSON
import Notifications

/// Reads the bodies of rejections, `{"reason":"…","timestamp":…}`, and of GOAWAY, which has the same form.
///
/// Whatever else a body holds (nothing, no JSON, a reason that is no string) gives an empty reason: the status counts.
struct AnswerParser {
    /// What is kept of a body; the rest is dropped.
    static let bodyBytesMaximum = 4_096

    private let parser = JSONParser(depthMaximum: 8, bytesMaximum: AnswerParser.bodyBytesMaximum)

    /// Makes an answer of its parts.
    ///
    /// - Parameters:
    ///   - status: the HTTP status.
    ///   - body: at most `bodyBytesMaximum` bytes.
    ///   - retryAfterSeconds: the header `retry-after`.
    /// - Returns: the answer; `deadSinceMilliseconds` only for status 410, as Apple documents it.
    func answer(status: Int, body: [UInt8], retryAfterSeconds: Int?) -> PushAnswer {
        var answer = PushAnswer(status: status, retryAfterSeconds: retryAfterSeconds)
        guard status != 200, !body.isEmpty, let parsed = try? parser.parse(body) else { return answer }
        answer.reason = reason(in: parsed)
        if status == 410, let since = parsed["timestamp"]?.int64 {
            answer.deadSinceMilliseconds = WallTime(milliseconds: since).milliseconds
        }
        return answer
    }

    /// The reason in the debug data of a GOAWAY; empty if there is none.
    func reason(inGoAway debugData: [UInt8]) -> String {
        guard !debugData.isEmpty, let parsed = try? parser.parse(debugData) else { return "" }
        return reason(in: parsed)
    }

    private func reason(in value: JSONValue) -> String {
        value["reason"]?.withUTF8 { KnownReasons.reason($0) } ?? ""
    }
}
