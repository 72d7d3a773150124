import EventLoop
import PushServiceSimulator

/// The answers of one loop: counted, and recorded as far as the configuration asks for it.
final class MessageLog {
    private struct Answer: Hashable {
        let status: Int
        let reason: String?
    }

    private let recordsMaximum: Int
    private let writer: RecordWriter
    private let wallClockMilliseconds: @Sendable () -> Int64
    private var counts: [Answer: Int] = [:]
    private var duplicates = 0
    private var delayed = 0
    private var validated = 0

    /// The answered messages that were kept, oldest first.
    private(set) var records: [RecordedMessage] = []

    init(_ configuration: ServingConfiguration, writer: RecordWriter) {
        recordsMaximum = configuration.recordsInMemoryMaximum
        wallClockMilliseconds = configuration.wallClockMilliseconds
        self.writer = writer
    }

    /// Counts an answer that a rule gives.
    func count(status: Int, reason: String?) { counts[Answer(status: status, reason: reason), default: 0] += 1 }

    /// Counts an accepted message.
    func accepted(_ facts: MessageFacts) {
        if facts.message?.isValidateOnly == true { validated += 1 }
        if facts.isDuplicate { duplicates += 1 }
        if facts.isDelayed { delayed += 1 }
    }

    /// Records an answer.
    func record(_ facts: MessageFacts, payload: [UInt8]) {
        guard writer.writesLines || records.count < recordsMaximum else { return }
        if writer.writesLines {
            MessageLine.append(
                facts, timeMicroseconds: WallClock.nowMicroseconds(), payload: facts.message == nil ? nil : payload,
                to: &writer.lines)
            writer.lineAppended()
        }
        if records.count < recordsMaximum { records.append(RecordedMessage(facts, payload: payload)) }
    }

    /// The numbers so far, given those of the connections.
    func summary(_ serving: ServingCounts) -> FCMSummary {
        var summary = FCMSummary()
        summary.serving = serving
        summary.answered = counts.values.reduce(0, +)
        summary.validated = validated
        summary.accepted = (counts[Answer(status: 200, reason: nil)] ?? 0) - validated
        summary.duplicates = duplicates
        summary.delayed = delayed
        summary.recordsLost = writer.lostCount
        summary.answers = counts.map { answer, count in
            AnswerCount(status: answer.status, reason: answer.reason, count: count)
        }
        return summary
    }
}
