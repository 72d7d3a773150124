import ChangeQueue

/// `apus dead-letters replay`.
struct DeadLettersReplayCommand: Command {
    let name = "replay"
    let summary = "Put dead letters back to work"
    let help = CommandHelp(
        discussion: """
            Publishes each letter again, with its attempts counted from the start, and removes
            it from the dead letters once RabbitMQ has confirmed the copy. If it is interrupted
            a letter may be replayed twice; none is lost.
            """,
        examples: [
            .init("apus dead-letters replay --dry-run", "Says how many there are."),
            .init("apus dead-letters replay --reason attempts-exhausted", "Tries again what gave up."),
        ],
        exitCodes: [.unavailable, .noPermission, .configuration]
    )
    let options =
        [DeadLettersCommands.reason, DeadLettersCommands.limit, DeadLettersCommands.dryRun]
        + CommandOption.configuration

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let selection = try DeadLettersCommands.selection(invocation)
        let isDryRun = invocation.has(DeadLettersCommands.dryRun)
        let progress = ProgressLine()
        do {
            let letters = try DeadLettersCommands.letters(invocation, progress: progress)
            let tally = try await letters.replay(selection, isDryRun: isDryRun)
            return DeadLettersCommands.finish(tally, verb: "replayed", isDryRun: isDryRun, progress)
        } catch let error as ChangeQueueError { throw CommandFailure(error) }
    }
}
