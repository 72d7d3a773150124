import ChangeQueue

/// `apus dead-letters purge`.
struct DeadLettersPurgeCommand: Command {
    let name = "purge"
    let summary = "Delete dead letters for good"
    let help = CommandHelp(
        discussion: """
            Deletes letters selected by IDs, by options, or by --all. This cannot be undone; 'apus
            dead-letters export' keeps a copy.
            """,
        examples: [
            .init("apus dead-letters purge 3f9a1cb27d40", "Deletes one letter."),
            .init(
                "apus dead-letters purge --reason invalid-json --dry-run", "Counts the letters that would be deleted."),
            .init("apus dead-letters purge --all", "Deletes all letters."),
        ],
        exitCodes: DeadLettersCommands.exitCodes
    )
    let options =
        DeadLettersCommands.filters
        + [DeadLettersCommands.all, DeadLettersCommands.limit, DeadLettersCommands.dryRun]
        + CommandOption.configuration
    let operands = Operands.any("ID")

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        try await DeadLettersCommands.change(invocation, verb: "deleted") { letters, selection, isDryRun in
            try await letters.purge(selection, isDryRun: isDryRun)
        }
    }
}
