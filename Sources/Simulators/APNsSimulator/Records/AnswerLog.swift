import EventLoop
import Notifications
import PushServiceSimulator

/// The answers of one loop: counted, and recorded as far as the configuration asks for it.
final class AnswerLog {
    private let isTrusting: Bool
    private let recordsMaximum: Int
    private let recordWriter: RecordWriter
    private let identifiers: AcceptedIdentifiers
    private let progress: SimulatorProgress
    private let wallClockMilliseconds: @Sendable () -> Int64
    private var counts: [Int]
    private var duplicates = 0

    /// The answered requests that were kept, oldest first.
    private(set) var records: [RecordedPush] = []

    init(
        configuration: ServingConfiguration, answerCount: Int, records: RecordWriter, identifiers: AcceptedIdentifiers,
        progress: SimulatorProgress
    ) {
        isTrusting = configuration.isTrusting
        recordsMaximum = configuration.recordsInMemoryMaximum
        wallClockMilliseconds = configuration.wallClockMilliseconds
        recordWriter = records
        self.identifiers = identifiers
        self.progress = progress
        counts = Array(repeating: 0, count: answerCount)
    }

    /// Notes an answer that is being given.
    ///
    /// - Parameters:
    ///   - prepared: the answer.
    ///   - index: its number in the catalog.
    ///   - request: the answered request.
    ///   - fields: the headers of the request.
    ///   - identifierText: the `apns-id` of the answer.
    func answered(
        _ prepared: PreparedAnswer, index: Int, request: RequestState, fields: RequestFields,
        identifierText: UnsafeBufferPointer<UInt8>
    ) {
        counts[index] += 1
        var isDuplicate = false
        if index == AnswerCatalog.accepted, !isTrusting, let identifier = fields.identifier {
            isDuplicate = !identifiers.insert(UInt128(identifier.high) << 64 | UInt128(identifier.low))
            if isDuplicate { duplicates += 1 }
        }
        record(
            prepared.answer, isDuplicate: isDuplicate, request: request, fields: fields, identifierText: identifierText)
        progress.requestAnswered()
    }

    /// Notes an answer that a fault gives: it is recorded, and counted as a fault alone.
    func answeredFaultily(
        _ answer: ScriptedAnswer, request: RequestState, fields: RequestFields,
        identifierText: UnsafeBufferPointer<UInt8>
    ) {
        record(answer, isDuplicate: false, request: request, fields: fields, identifierText: identifierText)
    }

    private func record(
        _ answer: ScriptedAnswer, isDuplicate: Bool, request: RequestState, fields: RequestFields,
        identifierText: UnsafeBufferPointer<UInt8>
    ) {
        guard recordWriter.writesLines || records.count < recordsMaximum else { return }
        let facts = AnswerFacts(
            timeMilliseconds: wallClockMilliseconds(), timeMicroseconds: WallClock.nowMicroseconds(),
            identifierText: identifierText, answer: answer, isDuplicate: isDuplicate,
            isPayloadChecked: request.isPayloadChecked)
        if recordWriter.writesLines {
            RecordLine.append(facts, fields: fields, payload: request.payload, to: &recordWriter.lines)
            recordWriter.lineAppended()
        }
        if records.count < recordsMaximum {
            records.append(RecordedPush(facts, fields: fields, payload: request.payload))
        }
    }

    /// The numbers so far, given the catalog by which answers are numbered and the counts of the connections.
    func summary(catalog: AnswerCatalog, serving: ServingCounts) -> SimulatorSummary {
        var summary = SimulatorSummary(serving)
        summary.duplicates = duplicates
        summary.recordsLost = recordWriter.lostCount
        summary.answered = counts.reduce(0, +)
        summary.accepted = counts[AnswerCatalog.accepted]
        summary.answers = zip(catalog.answers, counts).filter { $0.1 > 0 }.map { prepared, count in
            AnswerCount(status: prepared.answer.status, reason: prepared.answer.reason, count: count)
        }
        return summary
    }
}

/// The facts about one answer, beside the request itself.
struct AnswerFacts {
    /// When it was given, in milliseconds since 1970.
    var timeMilliseconds: Int64
    /// The same by the system's clock, in microseconds.
    var timeMicroseconds: Int64
    /// The `apns-id` of the answer.
    var identifierText: UnsafeBufferPointer<UInt8>
    /// The answer.
    var answer: ScriptedAnswer
    /// Whether a push with the same `apns-id` had been accepted before.
    var isDuplicate: Bool
    /// Whether the payload is known to be JSON.
    var isPayloadChecked: Bool
}
