import ChangeQueue

/// `apus dead-letters list`.
struct DeadLettersListCommand: Command {
    private static let defaultLimit = 100

    let name = "list"
    let summary = "List dead letters: place, reason, message identifier, size, attempts"
    let help = CommandHelp(
        discussion: """
            Lists the oldest dead letters, 100 unless --limit says otherwise. Nothing is
            consumed. While the list is read, other commands do not see the same letters.
            """,
        examples: [
            .init("apus dead-letters list", "Shows the oldest hundred."),
            .init("apus dead-letters list --reason invalid-json --limit 5", "Only some of one kind."),
            .init("apus dead-letters list --json", "One JSON object a line, without bodies."),
        ],
        exitCodes: [.unavailable, .noPermission, .configuration]
    )
    let options =
        [DeadLettersCommands.reason, DeadLettersCommands.limit, CommandOption.json] + CommandOption.configuration

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let selection = try DeadLettersCommands.selection(invocation, defaultLimit: Self.defaultLimit)
        let progress = ProgressLine()
        do {
            let letters = try await DeadLettersCommands.letters(invocation, progress: progress).list(selection)
            progress.finish()
            for letter in letters {
                if invocation.isJSON {
                    invocation.output.line(DeadLetterReport.json(letter, withBody: false))
                } else {
                    invocation.output.line(DeadLetterReport.line(letter))
                }
            }
            if letters.isEmpty, !invocation.isJSON { StandardError.line("no dead letters") }
            return .ok
        } catch let error as ChangeQueueError { throw CommandFailure(error) }
    }
}
