import Essentials
internal import JSON
import Messages
public import Notifications
public import RegistryCore

/// The history of one event from logs, outcomes and the registry, in chronological order.
///
/// It keeps a bounded number of entries, the first ones, and the newest outcome of a bounded number of pushes.
public struct EventHistory {
    /// Where an entry comes from.
    public enum Origin: String, Sendable {
        /// A worker's log.
        case log
        /// A message of the exchange for outcomes.
        case outcome
        /// The dead letters.
        case deadLetter = "dead-letter"
        /// The records of large fan-outs.
        case fanOut = "fan-out"
    }

    /// Something that happened.
    public struct Entry: Hashable, Sendable {
        /// When, in milliseconds since 1970.
        public var atMilliseconds: Int64
        /// Where it comes from.
        public var origin: Origin
        /// The description, printable, on one line.
        public var text: String
    }

    /// The most entries that are kept.
    public static let entriesMaximum = 10_000
    /// The most pushes whose newest outcomes are kept.
    static let pushesMaximum = 1_000_000

    /// The name of a push within the event.
    private struct PushKey: Hashable {
        @ByBytes var app: String
        @ByBytes var deviceID: String
        @ByBytes var subscriptionID: String
    }

    private let identifier: String
    private let deviceID: String?
    private let parser = JSONParser(depthMaximum: 16)
    private var endings: [PushKey: (attempt: Int, atMilliseconds: Int64, kind: OutcomeKind)] = [:]
    /// The source of the event: the given one, or that of the first entry.
    public private(set) var source: String?
    /// The other sources whose events have the same `id`, and are left out.
    public private(set) var otherSources: Set<String> = []
    /// The entries, in the order in which they were added.
    private var added: [Entry] = []
    private var known: Set<Entry> = []
    /// Whether there was more than is kept.
    public private(set) var isTruncated = false

    /// Begins without anything.
    ///
    /// - Parameters:
    ///   - identifier: the attribute `id` of the event, or the 32 digits of its trace.
    ///   - source: its attribute `source`; nil for that of the first entry.
    ///   - deviceID: the only device whose pushes are told of; nil for all.
    public init(of identifier: String, source: String?, deviceID: String?) {
        self.identifier = identifier
        self.source = source
        self.deviceID = deviceID
    }

    /// The entries, the oldest first.
    public var entries: [Entry] {
        added.enumerated().sorted { ($0.element.atMilliseconds, $0.offset) < ($1.element.atMilliseconds, $1.offset) }
            .map(\.element)
    }

    /// How many pushes ended how, by the newest outcome of each; in the order of `OutcomeKind`.
    public var counts: [(kind: OutcomeKind, count: Int)] {
        OutcomeKind.allCases.compactMap { kind in
            let count = endings.values.count { $0.kind == kind }
            return count > 0 ? (kind, count) : nil
        }
    }

    // MARK: Adding

    /// Adds a line of a log in JSON if it is about the event.
    ///
    /// - Parameter line: the line.
    /// - Returns: whether it is a line of a log of Apus, about whichever event.
    public mutating func addLogLine(_ line: [UInt8]) -> Bool {
        guard let fields = try? parser.parse(line), let name = fields["event"]?.string,
            let milliseconds = fields["time"]?.string.flatMap({ WallTime.milliseconds($0) }),
            let level = fields["level"]?.string
        else { return false }
        let isNamed = ["id", "trace_id"].contains { fields[$0]?.string?.hasBytes(of: identifier) ?? false }
        guard isNamed, isOfSource(sourceInLog(fields["source"]?.string ?? "")) else { return true }
        let told = ["time", "level", "event", "source", "id"]
        let rest = fields.object.map { object in
            object.compactMap { member in
                let text = member.value.string ?? String(decoding: member.value.minified, as: UTF8.self)
                return told.contains(member.key) ? nil : "\(member.key)=\(text)"
            }
        }
        let text = ([name] + (level == "debug" || level == "info" ? [] : ["(\(level))"]) + (rest ?? []))
        add(Entry(atMilliseconds: milliseconds, origin: .log, text: text.joined(separator: " ")))
        return true
    }

    /// The source that a log tells of: "-" stands for an event without one, which outcomes and dead letters call "".
    private func sourceInLog(_ text: String) -> String { text == "-" && source != "-" ? "" : text }

    /// Adds a message of the exchange for outcomes if it is about the event.
    ///
    /// - Parameter body: the body of the message.
    /// - Throws: `OutcomeReport.Fault` if it is no outcome.
    public mutating func addOutcome(_ body: [UInt8]) throws(OutcomeReport.Fault) {
        let report = try OutcomeReport(Message(body: body))
        guard report.eventIdentifier.hasBytes(of: identifier), isOfSource(report.eventSource) else { return }
        if report.pushes.isEmpty {
            let reason = report.reason.isEmpty ? "" : ": \(report.reason)"
            return add(
                Entry(
                    atMilliseconds: report.published.milliseconds, origin: .outcome,
                    text: "\(report.kind.rawValue) as a whole, before its devices were known\(reason)"))
        }
        for push in report.pushes where deviceID.map({ push.deviceID.hasBytes(of: $0) }) ?? true {
            add(push, of: report)
        }
    }

    private mutating func add(_ push: OutcomeReport.Push, of report: OutcomeReport) {
        let key = PushKey(app: report.app, deviceID: push.deviceID, subscriptionID: push.subscriptionID ?? "")
        let known = endings[key]
        if let known, (known.attempt, known.atMilliseconds) >= (report.attempt, push.ended.milliseconds) {
            // A repetition, or older than what is known.
        } else if known != nil || endings.count < Self.pushesMaximum {
            endings[key] = (report.attempt, push.ended.milliseconds, report.kind)
        } else {
            isTruncated = true
        }
        let isUnmatched = report.kind == .unmatched
        let place = isUnmatched ? report.app : "\(push.platform.rawValue), \(report.app)"
        var words = ["\(push.deviceID) (\(place)): \(report.kind.rawValue)"]
        if let subscriptionID = push.subscriptionID { words.append("for the subscription \(subscriptionID)") }
        if !push.reason.isEmpty { words.append("because of \(push.reason)") }
        if report.attempt > 1 { words.append("in attempt \(report.attempt)") }
        add(
            Entry(
                atMilliseconds: push.ended.milliseconds, origin: .outcome, text: words.joined(separator: " ")))
    }

    /// Adds a dead letter of the event.
    public mutating func add(_ letter: DeadLetterSummary) {
        guard isOfSource(letter.eventSource ?? "") else { return }
        let detail = letter.detail.map { ": \($0)" } ?? ""
        add(
            Entry(
                atMilliseconds: letter.deadLetteredMilliseconds, origin: .deadLetter,
                text: "\(letter.shortIdentifier) is among the dead letters, because of \(letter.reason)\(detail)"))
    }

    /// Adds the large fan-out of the event.
    public mutating func add(_ fanOut: FanOut) {
        add(
            Entry(
                atMilliseconds: fanOut.begunAtMilliseconds, origin: .fanOut,
                text: "fan-out \(fanOut.number) began, and is \(fanOut.state.rawValue): \(fanOut.chunksServed) of "
                    + "\(fanOut.chunksPlanned) chunks served, \(fanOut.devicesPlanned) devices planned"))
    }

    /// Whether an entry has the source of the event, which the first one decides if nothing else does.
    private mutating func isOfSource(_ found: String) -> Bool {
        guard let source else {
            source = found
            return true
        }
        if source.hasBytes(of: found) { return true }
        if otherSources.count < 10 { otherSources.insert(found) }
        return false
    }

    private mutating func add(_ entry: Entry) {
        guard added.count < Self.entriesMaximum else {
            isTruncated = true
            return
        }
        var entry = entry
        entry.text = entry.text.shortened(bytesMaximum: 2_000).printable()
        // Outcomes come at least once, and files may overlap.
        if known.insert(entry).inserted { added.append(entry) }
    }
}
