import EventLoop
import JSON
import PushServiceSimulator

/// The records of one loop: counted, and kept as far as the configuration asks for it.
final class PushLog {
    private struct Answer: Hashable {
        let status: Int
        let reason: String?
    }

    private let recordsMaximum: Int
    private let writer: RecordWriter
    private let parser = JSONParser(depthMaximum: 64, bytesMaximum: 8_192)
    private var counts: [Answer: Int] = [:]
    private var summary = WebPushSummary()

    /// The records that were kept, oldest first.
    private(set) var records: [RecordedWebPush] = []

    init(_ configuration: ServingConfiguration, writer: RecordWriter) {
        recordsMaximum = configuration.recordsInMemoryMaximum
        self.writer = writer
    }

    /// Counts an answer that a rule gave.
    func count(status: Int, reason: String?) { counts[Answer(status: status, reason: reason), default: 0] += 1 }

    /// Counts and records what happened to a message.
    func add(_ record: RecordedWebPush) {
        switch record.kind {
        case .push:
            if record.isDuplicate { summary.duplicates += 1 }
            if record.isDelayed { summary.delayed += 1 }
            if record.isReused { summary.reusedKeys += 1 }
            switch record.fate {
            case .delivered: summary.delivered += 1
            case .dropped: summary.dropped += 1
            case .unreadable: summary.unreadable += 1
            case .stored, nil: break
            }
        case .delivery: summary.delivered += 1
        case .replaced: summary.replaced += 1
        case .expired: summary.expired += 1
        }
        if writer.writesLines {
            RecordLine.append(
                record, timeMicroseconds: WallClock.nowMicroseconds(), parser: parser, to: &writer.lines)
            writer.lineAppended()
        }
        if records.count < recordsMaximum { records.append(record) }
    }

    /// The numbers so far, given those of the connections.
    func summary(_ serving: ServingCounts) -> WebPushSummary {
        var summary = summary
        summary.serving = serving
        summary.answered = counts.values.reduce(0, +)
        summary.recordsLost = writer.lostCount
        summary.answers = counts.map { answer, count in
            AnswerCount(status: answer.status, reason: answer.reason, count: count)
        }
        summary.accepted = summary.count(nil)
        return summary
    }
}
