import EventLoop
import JSON
public import PushServiceSimulator

/// One message that a simulator of ADM judged.
public struct RecordedADMMessage: AnswerRecord, Equatable {
    /// When, in milliseconds since 1970.
    public var timeMilliseconds: Int64
    /// The registration ID in the path.
    public var registrationID: String
    /// The texts of `data`; nil if the message could not be read.
    public var data: [String: String]?
    /// `consolidationKey`.
    public var consolidationKey: String?
    /// `expiresAfter`, in seconds.
    public var expiresAfter: Int64?
    /// The status of the answer; nil if none was given.
    public var status: Int?
    /// The reason in the answer; nil for acceptance.
    public var reason: String?
    /// Whether the same message to the same registration ID had been accepted before.
    public var isDuplicate: Bool

    init(_ judgement: ADMJudgement, isDuplicate: Bool, timeMilliseconds: Int64) {
        self.timeMilliseconds = timeMilliseconds
        registrationID = judgement.registrationID
        data = judgement.message?.data
        consolidationKey = judgement.message?.consolidationKey
        expiresAfter = judgement.message?.expiresAfter
        status = judgement.losesAnswer ? nil : judgement.answer?.status
        reason = judgement.answer?.reason
        self.isDuplicate = isDuplicate
    }
}

/// Writes a record as one line of JSON; `token`, `status`, `reason`, `duplicate` and `payload` are as in those of APNs.
enum ADMRecordLine {
    /// Appends the line of one answered message.
    ///
    /// - Parameters:
    ///   - judgement: the message and the answer, which is there even if it does not come.
    ///   - isDuplicate: whether the same message had been accepted before.
    ///   - timeMilliseconds: when it was answered, in milliseconds since 1970.
    ///   - payload: the body, which goes into the line as the JSON that it is; null if it is no message.
    ///   - bytes: where the line goes, its line feed included.
    static func append(
        _ judgement: ADMJudgement, isDuplicate: Bool, timeMilliseconds: Int64, payload: [UInt8],
        to bytes: inout [UInt8]
    ) {
        guard let answer = judgement.answer else { return }
        var writer = JSONWriter(capacityBytes: 256 + payload.count)
        func text(_ name: StaticString, _ value: String?) {
            writer.key(name)
            if let value { writer.string(value) } else { writer.null() }
        }
        writer.beginObject()
        writer.member("time_ms", timeMilliseconds)
        writer.member("time_us", WallClock.nowMicroseconds())
        text("token", judgement.registrationID)
        text("successor", judgement.successor)
        text("consolidation_key", judgement.message?.consolidationKey)
        writer.key("expires_after")
        if let seconds = judgement.message?.expiresAfter { writer.integer(seconds) } else { writer.null() }
        writer.member("status", answer.status)
        text("reason", answer.reason)
        writer.member("duplicate", isDuplicate)
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
