import EventLoop
import PushServiceSimulator
import Synchronization

/// One message that a simulator of ADM judged.
public struct RecordedADMMessage: Sendable, Equatable {
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
}

/// The books of the messages.
final class ADMMessageLog: Sendable {
    private struct Answer: Hashable {
        let status: Int
        let reason: String?
    }

    private struct State {
        var summary = ADMSummary()
        var answers: [Answer: Int] = [:]
        var records: [RecordedADMMessage] = []
        let writer: RecordWriter
    }

    private let recordsMaximum: Int
    private let identifiers = AcceptedIdentifiers()
    private let state: Mutex<State>

    init(recordsMaximum: Int, file: RecordFile?) {
        self.recordsMaximum = recordsMaximum
        state = Mutex(State(writer: RecordWriter(file: file, handler: nil)))
    }

    /// The numbers so far, without those of tokens.
    var summary: ADMSummary {
        var summary = state.withLock { state in
            var summary = state.summary
            summary.recordsLost = state.writer.lostCount
            summary.answers.add(
                state.answers.map { answer, count in
                    AnswerCount(status: answer.status, reason: answer.reason, count: count)
                })
            return summary
        }
        (summary.distinctMessages, summary.isMessageCountComplete) = identifiers.count
        return summary
    }

    /// The kept records.
    var records: [RecordedADMMessage] { state.withLock { $0.records } }

    /// Notes what became of a message.
    ///
    /// - Parameters:
    ///   - judgement: the message and the answer.
    ///   - payload: the body of the request.
    ///   - nowMilliseconds: the time, in milliseconds since 1970.
    func note(_ judgement: ADMJudgement, payload: [UInt8], nowMilliseconds: Int64) {
        let isAccepted = judgement.answer?.status == 200
        let identity = judgement.message?.identity(to: judgement.registrationID) ?? 0
        let isDuplicate = isAccepted && !identifiers.insert(identity)
        let record = RecordedADMMessage(
            timeMilliseconds: nowMilliseconds, registrationID: judgement.registrationID, data: judgement.message?.data,
            consolidationKey: judgement.message?.consolidationKey, expiresAfter: judgement.message?.expiresAfter,
            status: judgement.losesAnswer ? nil : judgement.answer?.status, reason: judgement.answer?.reason,
            isDuplicate: isDuplicate)
        state.withLock { state in
            state.summary.judged += 1
            if isAccepted { state.summary.accepted += 1 }
            if isDuplicate { state.summary.duplicates += 1 }
            if judgement.losesAnswer { state.summary.lostAnswers += 1 }
            if judgement.successor != nil { state.summary.replaced += 1 }
            if let answer = judgement.answer {
                state.answers[Answer(status: answer.status, reason: answer.reason), default: 0] += 1
            } else {
                state.summary.silent += 1
            }
            if state.records.count < recordsMaximum { state.records.append(record) }
            guard state.writer.writesLines else { return }
            ADMRecordLine.append(
                judgement, isDuplicate: isDuplicate, timeMilliseconds: nowMilliseconds,
                timeMicroseconds: WallClock.nowMicroseconds(), payload: payload, to: &state.writer.lines)
            // The line is in the file before the answer leaves; messages are rare enough for a write each.
            state.writer.write()
        }
    }
}
