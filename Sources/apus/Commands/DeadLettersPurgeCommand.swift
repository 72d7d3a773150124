import ChangeQueue

/// `apus dead-letters purge`.
struct DeadLettersPurgeCommand: Command {
    private static let all = CommandOption.flag("all", "Really delete letters of every reason.")

    let name = "purge"
    let summary = "Delete dead letters for good"
    let help = CommandHelp(
        discussion: """
            Deletes the letters that --reason selects, or all of them with --all. There is no
            way back.
            """,
        examples: [
            .init("apus dead-letters purge --reason invalid-json --dry-run", "Says how many would go."),
            .init("apus dead-letters purge --reason invalid-json", "Deletes those."),
            .init("apus dead-letters purge --all", "Deletes everything."),
        ],
        exitCodes: [.unavailable, .noPermission, .configuration]
    )
    let options =
        [DeadLettersCommands.reason, all, DeadLettersCommands.limit, DeadLettersCommands.dryRun]
        + CommandOption.configuration

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let selection = try DeadLettersCommands.selection(invocation)
        let isDryRun = invocation.has(DeadLettersCommands.dryRun)
        guard selection.reason != nil || isDryRun || invocation.has(Self.all) else {
            throw CommandFailure.usage("give --reason REASON, or --all to delete every dead letter")
        }
        let progress = ProgressLine()
        do {
            let letters = try DeadLettersCommands.letters(invocation, progress: progress)
            let tally = try await letters.purge(selection, isDryRun: isDryRun)
            return DeadLettersCommands.finish(tally, verb: "deleted", isDryRun: isDryRun, progress)
        } catch let error as ChangeQueueError { throw CommandFailure(error) }
    }
}
