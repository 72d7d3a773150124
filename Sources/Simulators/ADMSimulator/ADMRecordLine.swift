import JSON
import PushServiceSimulator

/// Writes a record as one line of JSON; `token`, `status`, `reason`, `duplicate` and `payload` are as in those of APNs.
enum ADMRecordLine {
    /// Appends the line of one answered message.
    ///
    /// - Parameters:
    ///   - judgement: the message and the answer, which is there even if it does not come.
    ///   - isDuplicate: whether the same message had been accepted before.
    ///   - timeMilliseconds: when it was answered, in milliseconds since 1970.
    ///   - timeMicroseconds: the time by the system's clock, in microseconds since 1970.
    ///   - payload: the body, which goes into the line as the JSON that it is; null if it is no message.
    ///   - bytes: where the line goes, its line feed included.
    static func append(
        _ judgement: ADMJudgement, isDuplicate: Bool, timeMilliseconds: Int64, timeMicroseconds: Int64,
        payload: [UInt8], to bytes: inout [UInt8]
    ) {
        guard let answer = judgement.answer else { return }
        var writer = JSONWriter(capacityBytes: 256 + payload.count)
        func text(_ name: StaticString, _ value: String?) {
            writer.key(name)
            if let value { writer.string(value) } else { writer.null() }
        }
        writer.beginObject()
        writer.key("time_ms")
        writer.integer(timeMilliseconds)
        writer.key("time_us")
        writer.integer(timeMicroseconds)
        text("token", judgement.registrationID)
        text("successor", judgement.successor)
        text("consolidation_key", judgement.message?.consolidationKey)
        writer.key("expires_after")
        if let seconds = judgement.message?.expiresAfter { writer.integer(seconds) } else { writer.null() }
        writer.key("status")
        writer.integer(answer.status)
        text("reason", answer.reason)
        writer.key("duplicate")
        writer.boolean(isDuplicate)
        writer.key("payload")
        if judgement.message == nil {
            writer.null()
        } else {
            var line: [UInt8] = []
            line.append(payload: payload)
            writer.raw(line)
        }
        writer.endObject()
        bytes += writer.bytes
        bytes.append(UInt8(ascii: "\n"))
    }
}
