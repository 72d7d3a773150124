import ChangeQueue

/// `apus dead-letters replay`.
struct DeadLettersReplayCommand: Command {
    let name = "replay"
    let summary = "Publish dead letters again"
    let help = CommandHelp(
        discussion: """
            Publishes letters selected by IDs, by options, or by --all again, with their attempts
            counted from the start. A letter is removed once RabbitMQ has confirmed its copy. An
            interrupted replay may publish a letter twice and loses none.
            """,
        examples: [
            .init("apus dead-letters replay 3f9a1cb27d40", "Replays one letter."),
            .init(
                "apus dead-letters replay --reason attempts-exhausted --dry-run", "Counts the letters with this reason."
            ),
            .init("apus dead-letters replay --app chat --since 24h", "Replays the letters of an app since yesterday."),
        ],
        exitCodes: DeadLettersCommands.exitCodes
    )
    let options =
        DeadLettersCommands.filters
        + [DeadLettersCommands.all, DeadLettersCommands.limit, DeadLettersCommands.dryRun]
        + CommandOption.configuration
    let operands = Operands.any("ID")

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        try await DeadLettersCommands.change(invocation, verb: "replayed") { letters, selection, isDryRun in
            try await letters.replay(selection, isDryRun: isDryRun)
        }
    }
}
