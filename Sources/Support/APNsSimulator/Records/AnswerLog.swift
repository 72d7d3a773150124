import EventLoop

/// The answers of one loop: counted, and recorded as far as the configuration asks for it.
final class AnswerLog {
    /// How many bytes of records wait for the file before they are written without waiting for the timer.
    private static let unwrittenBytesMaximum = 1 << 18

    private let isTrusting: Bool
    private let recordsMaximum: Int
    private let file: RecordFile?
    private let handler: (@Sendable ([UInt8]) -> Void)?
    private let writesLines: Bool
    private let identifiers: AcceptedIdentifiers
    private let progress: SimulatorProgress
    private let wallClockMilliseconds: @Sendable () -> Int64
    private var counts: [Int]
    private var lines: [UInt8] = []

    /// The numbers beside the counts of the answers.
    var summary = SimulatorSummary()

    /// The answered requests that were kept, oldest first.
    private(set) var records: [RecordedPush] = []

    init(
        configuration: SimulatorConfiguration, answerCount: Int, file: RecordFile?, identifiers: AcceptedIdentifiers,
        progress: SimulatorProgress
    ) {
        isTrusting = configuration.isTrusting
        recordsMaximum = configuration.recordsInMemoryMaximum
        wallClockMilliseconds = configuration.wallClockMilliseconds
        self.file = file
        handler = configuration.recordHandler
        writesLines = configuration.writesRecords
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
            isDuplicate = !identifiers.insert(identifier)
            if isDuplicate { summary.duplicates += 1 }
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
        guard writesLines || records.count < recordsMaximum else { return }
        let facts = AnswerFacts(
            timeMilliseconds: wallClockMilliseconds(), timeMicroseconds: WallClock.nowMicroseconds(),
            identifierText: identifierText, answer: answer, isDuplicate: isDuplicate,
            isPayloadChecked: request.isPayloadChecked)
        if writesLines {
            RecordLine.append(facts, fields: fields, body: request.body, to: &lines)
            if lines.count >= Self.unwrittenBytesMaximum { writeRecords() }
        }
        if records.count < recordsMaximum {
            records.append(RecordedPush(facts, fields: fields, payload: request.body.bytes))
        }
    }

    /// Writes the records that wait.
    func writeRecords() {
        guard !lines.isEmpty else { return }
        if let file, !file.append(lines) { summary.recordsLost += lines.count { $0 == 0x0A } }
        handler?(lines)
        lines.removeAll(keepingCapacity: true)
    }

    /// The numbers so far, given the catalog by which answers are numbered.
    func summary(catalog: AnswerCatalog) -> SimulatorSummary {
        var summary = summary
        summary.answered = counts.reduce(0, +)
        summary.accepted = counts[AnswerCatalog.accepted]
        summary.answers = zip(catalog.answers, counts).filter { $0.1 > 0 }.map { prepared, count in
            SimulatorSummary.AnswerCount(
                status: prepared.answer.status, reason: prepared.answer.reason, count: count)
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
