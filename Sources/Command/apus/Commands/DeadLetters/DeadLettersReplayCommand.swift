import ChangeQueue

/// `apus dead-letters replay`.
struct DeadLettersReplayCommand: Command {
    let name = "replay"
    let summary = "Put dead letters back to work"
    let help = CommandHelp(
        discussion: """
            Publishes each letter again, with its attempts counted from the start, and removes
            it from the dead letters once RabbitMQ has confirmed the copy. If it is interrupted
            a letter may be replayed twice; none is lost. Which letters is said by their IDs, by
            options, or by --all.
            """,
        examples: [
            .init("apus dead-letters replay 3f9a1cb27d40", "Tries one letter again."),
            .init("apus dead-letters replay --reason attempts-exhausted --dry-run", "Says how many there are."),
            .init("apus dead-letters replay --app chat --since 24h", "Tries again what gave up since yesterday."),
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
