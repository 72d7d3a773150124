import ChangeQueue
import Dispatcher

/// The group `apus dead-letters`, and what its commands have in common.
enum DeadLettersCommands {
    /// `--reason`.
    static let reason = CommandOption.value(
        "reason", "REASON", "Only letters with this reason, for example invalid-json.")
    /// `--limit`.
    static let limit = CommandOption.value("limit", "COUNT", "At most so many letters.")
    /// `--dry-run`.
    static let dryRun = CommandOption.flag("dry-run", letter: "n", "Only say how many letters are meant.")
    private static let limitMaximum = 100_000_000

    /// The group with its commands.
    static let node = CommandNode.group(
        name: "dead-letters",
        summary: "List, show, replay and delete what could not be delivered",
        discussion: """
            A message becomes a dead letter when it cannot be understood, when APNs refuses it
            for good, or when it has used up its attempts. It waits, whole, until someone
            replays or deletes it. Looking at dead letters does not consume them.
            """,
        nodes: [
            .command(DeadLettersListCommand()),
            .command(DeadLettersShowCommand()),
            .command(DeadLettersReplayCommand()),
            .command(DeadLettersPurgeCommand()),
        ]
    )

    /// What `--reason` and `--limit` select.
    static func selection(
        _ invocation: CommandInvocation, defaultLimit: Int? = nil
    ) throws(CommandFailure) -> DeadLetterSelection {
        DeadLetterSelection(
            reason: invocation.string(reason),
            limit: try invocation.integer(limit, in: 1...limitMaximum) ?? defaultLimit)
    }

    /// The dead letters of the namespace that the configuration names.
    static func letters(
        _ invocation: CommandInvocation, progress: ProgressLine? = nil
    ) throws(CommandFailure) -> DeadLetters {
        let configuration = try invocation.loadConfiguration(for: .tool).configuration
        return DeadLetters(configuration: try invocation.broker(configuration)) { tally in
            progress?.update(
                "looked at \(tally.examinedCount) of \(tally.queuedCount), \(tally.selectedCount) selected, "
                    + "\(tally.doneCount) done")
        }
    }

    /// Says what was done, and how the command ends.
    static func finish(
        _ tally: DeadLetterTally, verb: String, isDryRun: Bool, _ progress: ProgressLine
    ) -> ExitCode {
        let what = isDryRun ? "would be \(verb)" : verb
        let count = isDryRun ? tally.selectedCount : tally.doneCount
        progress.finish("\(count) of \(tally.queuedCount) dead letters \(what)")
        guard let failure = tally.failure else { return .ok }
        StandardError.line("stopped: \(failure); the rest are still dead letters")
        return .unavailable
    }
}
