import Backoffice
import ChangeEvents
import Dispatcher
import Essentials
import Notifications
import RegistryCore

/// `apus explain`.
struct ExplainCommand: Command {
    private static let source = CommandOption.value(
        "source", "SOURCE", "The event's attribute source, if events of several sources have this id.")
    private static let device = CommandOption.value("device", "ID", "Only outcomes of this device.")
    private static let log = CommandOption.value(
        "log", "FILE", "A worker's log, as JSON; - is standard input. Repeatable.")
    private static let outcomes = CommandOption.value(
        "outcomes", "FILE", "Outcomes, one body a line, as 'apus outcomes tail --json' prints them. Repeatable.")

    let name = "explain"
    let summary = "Tell what happened to one event"
    let help = CommandHelp(
        discussion: """
            Tells from logs, outcomes and the registry what happened to the event with this id, in the
            order in which it happened, and ends with how many pushes ended how. The registry knows
            the event's dead letters and its large fan-out, and with events.history what became of
            each push. Logs tell most at log.level "debug". A trace of 32 digits may stand for
            the id: its events are found in the logs.

            Why a device would get an event now, or would not, the operator's page tells under Find.
            """,
        examples: [
            .init("apus explain 6f2c", "Tells what the registry knows, with events.history = \"24h\"."),
            .init("apus explain 6f2c --log worker.log", "Tells what a log knows as well."),
            .init(
                "journalctl --unit 'apus@*' --output cat | apus explain 6f2c --log -",
                "Reads the journal of all workers."),
            .init(
                "apus explain 6f2c --outcomes outcomes.ndjson --device mei-phone",
                "Tells what became of the push to one device, from recorded outcomes."),
        ],
        exitCodes: [.noInput] + DeviceRegistry.exitCodes
    )
    let options = [source, device, log, outcomes, .json] + CommandOption.configuration
    let operands = Operands.exactly(["EVENT-ID"])

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let identifier = invocation.operands[0]
        var history = EventHistory(
            of: identifier, source: invocation.string(Self.source), deviceID: invocation.string(Self.device))
        for path in invocation.strings(Self.log) { try readLog(path, into: &history) }
        for path in invocation.strings(Self.outcomes) { try readOutcomes(path, into: &history) }
        try DeviceRegistry.use(invocation, mode: .readOnly) { registry, _ in
            try Self.addStored(identifier, in: registry, to: &history)
        }
        show(history, of: identifier, invocation)
        return history.entries.isEmpty ? .data : .ok
    }

    // MARK: Reading

    /// The longest line, in bytes: more than an outcome of 500 pushes needs.
    private static let lineBytesMaximum = 1024 * 1024

    private func readLog(_ path: String, into history: inout EventHistory) throws {
        var (readable, others) = (0, 0)
        try LineReader.withFile(path, lineBytesMaximum: Self.lineBytesMaximum) { reader in
            while let line = try reader.next() {
                if case .bytes(let bytes) = line, history.addLogLine(Array(bytes)) {
                    readable += 1
                } else {
                    others += 1
                }
            }
        }
        guard others > 0 else { return }
        StandardError.line(
            readable == 0
                ? "warning: \(path) has no line of a log of Apus in JSON; set log.format = \"json\""
                : "\(path): \(others) lines are no log of Apus in JSON, and were passed over")
    }

    private func readOutcomes(_ path: String, into history: inout EventHistory) throws {
        var (lineNumber, problem, others) = (0, "", 0)
        try LineReader.withFile(path, lineBytesMaximum: Self.lineBytesMaximum) { reader in
            while let line = try reader.next() {
                lineNumber += 1
                guard case .bytes(let bytes) = line else {
                    others += 1
                    problem = "line \(lineNumber) is longer than \(Self.lineBytesMaximum) bytes"
                    continue
                }
                do throws(OutcomeReport.Fault) { try history.addOutcome(Array(bytes)) } catch {
                    others += 1
                    if problem.isEmpty { problem = "line \(lineNumber): \(error.description)" }
                }
            }
        }
        if others > 0 { StandardError.line("warning: \(path): \(others) lines are no outcomes; \(problem)") }
    }

    private static func addStored(
        _ identifier: String, in registry: any RegistryStore, to history: inout EventHistory
    ) throws {
        for body in try registry.keptOutcomes(ofEvent: identifier, limit: EventHistory.entriesMaximum) {
            try? history.addOutcome(body)
        }
        var filter = DeadLetterFilter()
        filter.eventIdentifier = identifier
        // Letters of events without a source have none to look for.
        filter.eventSource = history.source.flatMap { $0.isEmpty ? nil : $0 }
        try DeadLetterSelection(filter: filter, limit: EventHistory.entriesMaximum).forEachPage(in: registry) { page in
            for letter in page { history.add(letter) }
            return true
        }
        guard let source = history.source else { return }
        for fanOut in try registry.fanOuts(of: [EventDigest(source: source, identifier: identifier)]) {
            history.add(fanOut)
        }
    }

    // MARK: Showing

    private func show(_ history: EventHistory, of identifier: String, _ invocation: CommandInvocation) {
        let entries = history.entries
        for entry in entries {
            let time = WallTime.text(milliseconds: entry.atMilliseconds)
            invocation.show(
                ["time": time, "origin": entry.origin.rawValue, "text": entry.text],
                "\(time)\t\(entry.origin.rawValue)\t\(entry.text)")
        }
        invocation.output.flush()
        StandardError.line(Self.summary(history, of: identifier))
        for source in history.otherSources.sorted() {
            StandardError.line(
                "events of the source \"\(source.printable())\" have this id, too, and were left out: see --source")
        }
        if history.isTruncated {
            StandardError.line("there is more than \(EventHistory.entriesMaximum) entries; the rest was left out")
        }
    }

    private static func summary(_ history: EventHistory, of identifier: String) -> String {
        guard !history.entries.isEmpty else {
            return
                "nothing tells of an event \"\(identifier.printable())\": give --log and --outcomes files of the time "
                + "in which it was published; its letters may still be in the queue, see 'apus dead-letters list'"
        }
        let counts = history.counts
        guard !counts.isEmpty else { return "no outcome of its pushes is known" }
        let total = counts.reduce(0) { $0 + $1.count }
        let list = counts.map { "\($0.count) \($0.kind.rawValue)" }.joined(separator: ", ")
        return "\(total) \(total == 1 ? "push" : "pushes"): \(list)"
    }
}
