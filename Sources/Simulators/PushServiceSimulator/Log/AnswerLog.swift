/// A record of an answer, or of what became of a message.
public protocol AnswerRecord: Sendable {
    /// When, in milliseconds since 1970.
    var timeMilliseconds: Int64 { get }
}

/// The answers of one loop: counted, kept and written as lines, as far as the configuration asks for it.
public final class AnswerLog<Record: AnswerRecord, Further: FurtherCounts> {
    private let recordsMaximum: Int
    private let writer: RecordWriter
    private var counts = AnswerCounts()

    /// The records that were kept, oldest first.
    public private(set) var records: [Record] = []
    /// The numbers that do not follow from the answers alone.
    public var noted = ServiceSummary<Further>()

    /// Creates an empty log.
    ///
    /// - Parameters:
    ///   - recordsMaximum: how many records are kept; further ones are only written and counted.
    ///   - writer: takes the lines.
    public init(recordsMaximum: Int, writer: RecordWriter) {
        self.recordsMaximum = recordsMaximum
        self.writer = writer
    }

    /// Creates the log of a loop.
    public convenience init(_ server: SimulatorServer) {
        self.init(recordsMaximum: server.configuration.recordsInMemoryMaximum, writer: server.records)
    }

    /// Whether anybody wants further records.
    public var takesRecords: Bool { writer.writesLines || records.count < recordsMaximum }

    /// Counts an answer that a rule gave.
    public func count(status: Int, reason: String?) { counts.add(status: status, reason: reason) }

    /// Records an answer, if anybody wants records.
    ///
    /// - Parameters:
    ///   - record: the record, which is made only if it is kept.
    ///   - line: appends the record's line.
    public func add(_ record: @autoclosure () -> Record, line: (inout [UInt8]) -> Void) {
        if writer.writesLines {
            line(&writer.lines)
            writer.lineAppended()
        }
        if records.count < recordsMaximum { records.append(record()) }
    }

    /// Writes the lines that wait.
    public func write() { writer.write() }

    /// The numbers so far, given those of the connections.
    public func summary(_ serving: ServingCounts) -> ServiceSummary<Further> {
        var summary = noted
        summary.serving = serving
        summary.recordsLost = writer.lostCount
        for answer in counts.answers {
            summary.answered += answer.count
            if answer.reason == nil, (200...201).contains(answer.status) { summary.accepted += answer.count }
            summary.answers.append(answer)
        }
        return summary
    }
}

/// How often each answer was given.
///
/// A service has few of them and gives one most of the time, so looking through all is cheaper than a hash.
private struct AnswerCounts {
    private(set) var answers: [AnswerCount] = []

    mutating func add(status: Int, reason: String?) {
        for index in answers.indices where answers[index].status == status && answers[index].reason == reason {
            answers[index].count += 1
            return
        }
        answers.append(AnswerCount(status: status, reason: reason, count: 1))
    }
}

/// A service whose loops have logs.
public protocol LoggingService: SimulatedService {
    /// The records of its answers.
    associatedtype Record: AnswerRecord
    /// The numbers that only this service has.
    associatedtype Further: FurtherCounts
    /// The log of the loop.
    var log: AnswerLog<Record, Further> { get }
}

extension SimulatorLoops where Service: LoggingService {
    /// The numbers of all loops.
    ///
    /// - Throws: `CancellationError` after `stop()`.
    public func summary() async throws -> ServiceSummary<Service.Further> {
        var summary = ServiceSummary<Service.Further>()
        for part in try await map({ $0.log.summary($0.server.servingCounts) }) { summary.add(part) }
        summary.faults = faults.faultCount
        return summary
    }

    /// The kept records, oldest first.
    ///
    /// - Throws: `CancellationError` after `stop()`.
    public func recorded() async throws -> [Service.Record] {
        let records = try await map { $0.log.records }
        return records.count == 1 ? records[0] : records.joined().sorted { $0.timeMilliseconds < $1.timeMilliseconds }
    }
}

/// How often a simulator gave one answer.
public struct AnswerCount: Sendable, Hashable {
    /// The HTTP status.
    public var status: Int
    /// The reason, as the push service words it, or the name of the refusal; nil if the push was accepted.
    public var reason: String?
    /// How many requests were answered so.
    public var count: Int

    /// Counts an answer.
    public init(status: Int, reason: String?, count: Int) {
        self.status = status
        self.reason = reason
        self.count = count
    }
}

extension [AnswerCount] {
    /// Adds what another loop or origin gave; the most frequent answers come first.
    public mutating func add(_ others: [AnswerCount]) {
        for other in others {
            if let index = firstIndex(where: { $0.status == other.status && $0.reason == other.reason }) {
                self[index].count += other.count
            } else {
                append(other)
            }
        }
        sort { ($1.count, $0.status, $0.reason ?? "") < ($0.count, $1.status, $1.reason ?? "") }
    }
}
