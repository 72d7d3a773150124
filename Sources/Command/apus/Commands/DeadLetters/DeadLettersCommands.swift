import Backoffice
import ChangeQueue
import Dispatcher
import RegistryCore
import WorkerConfiguration

/// The group `apus dead-letters`, and what its commands have in common.
enum DeadLettersCommands {
    /// `--limit`.
    static let limit = CommandOption.value("limit", letter: "l", "COUNT", "The most letters.")
    /// `--all`.
    static let all = CommandOption.flag("all", "Select every letter.")
    /// `--dry-run`.
    static let dryRun = CommandOption.flag("dry-run", letter: "n", "Only count the selected letters.")
    /// The codes with which the commands can end.
    static let exitCodes: [ExitCode] = [.data, .unavailable, .inputOutput, .noPermission, .configuration]

    private static let reason = CommandOption.value(
        "reason", "REASON", "Only letters with this reason, for example invalid-json.")
    private static let app = CommandOption.value("app", "NAME", "Only letters of this app.")
    private static let type = CommandOption.value(
        "type", "TYPE", "Only letters of this event type, or with this end: dataset.changed.")
    private static let source = CommandOption.value("source", "SOURCE", "Only letters of events with this source.")
    private static let eventID = CommandOption.value("event-id", "ID", "Only letters of events with this id.")
    private static let since = CommandOption.value(
        "since", "TIME", "Only letters since a time, 2026-01-31T12:00:00Z, or an age, 2h.")
    private static let until = CommandOption.value(
        "until", "TIME", "Only letters before a time or an age, as in --since.")

    /// The options that say which letters are meant.
    static let filters = [reason, app, type, source, eventID, since, until]

    /// The options of a command that changes letters.
    static let changing = filters + [all, limit, dryRun] + CommandOption.configuration

    /// The group with its commands.
    static let node = CommandNode.group(
        name: "dead-letters",
        summary: "List, show, count, export, replay and delete undeliverable messages",
        discussion: """
            A message becomes a dead letter when it is invalid, when a push service rejects it, or
            when its attempts are used up. A dead letter keeps the whole message until it is
            replayed or deleted.

            Each command first collects the letters of the queue NAMESPACE.dead-letter into the
            registry, where a letter has an ID and a fixed order, and then works with the registry.
            An interrupted command loses nothing.
            """,
        nodes: [
            .command(DeadLettersListCommand()),
            .command(DeadLettersShowCommand()),
            .command(DeadLettersCountCommand()),
            .command(DeadLettersExportCommand()),
            .command(DeadLettersReplayCommand()),
            .command(DeadLettersPurgeCommand()),
        ]
    )

    // MARK: Selections

    /// The selection by the operands, the filters and `--limit`.
    static func selection(_ invocation: CommandInvocation) throws(CommandFailure) -> DeadLetterSelection {
        var filter = DeadLetterFilter()
        filter.reason = invocation.string(reason)
        filter.app = invocation.string(app)
        filter.eventType = invocation.string(type)
        filter.eventSource = invocation.string(source)
        filter.eventIdentifier = invocation.string(eventID)
        filter.sinceMilliseconds = try invocation.moment(since)
        filter.untilMilliseconds = try invocation.moment(until)
        let identifiers = invocation.operands
        guard identifiers.isEmpty || filter == DeadLetterFilter() else {
            throw .usage("give the IDs of letters, or options that select letters, but not both")
        }
        guard identifiers.isEmpty || !invocation.has(limit) else {
            throw .usage("--limit needs options that select letters, or --all; it has no effect on IDs")
        }
        return DeadLetterSelection(
            identifiers: identifiers, filter: filter, limit: try invocation.integer(limit, in: 1...Int.max))
    }

    /// The selection of a command that changes letters, which has to be explicit.
    static func explicitSelection(_ invocation: CommandInvocation) throws(CommandFailure) -> DeadLetterSelection {
        var selection = try selection(invocation)
        // `list` shows this many digits: fewer could name another letter by the time that the queue is collected.
        selection.prefixCountMinimum = DeadLetterSummary.shortIdentifierCount
        let isSelected = !selection.identifiers.isEmpty || selection.filter != DeadLetterFilter()
        guard isSelected != invocation.has(all) else {
            throw .usage("give the IDs of letters, options that select letters, or --all")
        }
        return selection
    }

    // MARK: Doing it

    /// Collects the letters of the queue and reads the registry.
    ///
    /// A failure to collect does not hide the letters collected before: they are shown, with a warning.
    ///
    /// - Parameters:
    ///   - invocation: the use of a command that lists `CommandOption.configuration` among its options.
    ///   - body: reads and prints.
    /// - Returns: how the command ends.
    /// - Throws: `CommandFailure` for a failure of the registry, and the errors of `body`.
    static func read(
        _ invocation: CommandInvocation, _ body: (any DeadLetterRegistry) throws -> Void
    ) async throws -> ExitCode {
        let configuration = try invocation.loadConfiguration(for: .tool).configuration
        let progress = ProgressLine()
        var exitCode = ExitCode.ok
        do {
            try await letters(configuration, invocation, progress).collect()
            progress.finish()
        } catch {
            let failure = try Self.failure(error)
            progress.finish(
                "warning: the dead-letter queue could not be read, so letters may be missing: "
                    + failure.message)
            exitCode = failure.code
        }
        try DeviceRegistry.rephrasing { try body(try configuration.registry.open(mode: .readOnly)) }
        return exitCode
    }

    /// Collects and changes letters, and prints the result.
    ///
    /// - Parameters:
    ///   - invocation: the use of a command.
    ///   - verb: the change, as a participle.
    ///   - body: does it.
    /// - Returns: how the command ends.
    /// - Throws: `CommandFailure` for a failure of the broker or the registry.
    static func change(
        _ invocation: CommandInvocation, verb: String,
        _ body: (DeadLetters, DeadLetterSelection, _ isDryRun: Bool) async throws -> DeadLetterTally
    ) async throws -> ExitCode {
        let selection = try explicitSelection(invocation)
        let isDryRun = invocation.has(dryRun)
        let configuration = try invocation.loadConfiguration(for: .tool).configuration
        let progress = ProgressLine()
        do {
            let tally = try await body(letters(configuration, invocation, progress), selection, isDryRun)
            let count = isDryRun ? tally.selectedCount : tally.doneCount
            progress.finish(
                "\(count) dead \(count == 1 ? "letter" : "letters") \(isDryRun ? "would be " : "")\(verb)")
            if let refusal = tally.refusal {
                StandardError.line(
                    "left out: \(tally.refusedCount) letters that RabbitMQ does not accept; the first: \(refusal). "
                        + "Raise the limit that it names, or export the letters and purge them.")
            }
            guard let problem = tally.failure else { return tally.refusal == nil ? .ok : .data }
            StandardError.line("stopped: \(problem); the other letters are still dead letters")
            return .unavailable
        } catch {
            progress.finish()
            throw try failure(error)
        }
    }

    private static func letters(
        _ configuration: Configuration, _ invocation: CommandInvocation, _ progress: ProgressLine
    ) throws(CommandFailure) -> DeadLetters {
        // The registry is not created here: letters would vanish into a file that was never configured.
        DeadLetters(configuration: try invocation.broker(configuration)) { () throws(RegistryError) in
            try configuration.registry.open(mode: .existing)
        } progress: { tally in
            progress.update(
                "\(tally.collectedCount) collected, \(tally.selectedCount) selected, \(tally.doneCount) done")
        } isWaiting: {
            StandardError.line("waiting for another 'apus dead-letters' command to end")
        }
    }

    private static func failure(_ error: any Error) throws -> CommandFailure {
        switch error {
        case let error as ChangeQueueError: CommandFailure(error)
        case let error as RegistryError: CommandFailure(DeviceRegistry.exitCode(error.code), error.message)
        default: throw error
        }
    }
}
