import ChangeQueue
import RegistryCore

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
    let options = DeadLettersCommands.changing
    let operands = Operands.any("ID")

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        try await DeadLettersCommands.change(invocation, verb: "replayed") { letters, selection, isDryRun in
            try await letters.replay(selection, isDryRun: isDryRun)
        }
    }
}

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
    let options = DeadLettersCommands.changing
    let operands = Operands.any("ID")

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        try await DeadLettersCommands.change(invocation, verb: "deleted") { letters, selection, isDryRun in
            try await letters.purge(selection, isDryRun: isDryRun)
        }
    }
}

/// `apus dead-letters export`.
struct DeadLettersExportCommand: Command {
    let name = "export"
    let summary = "Write whole dead letters as NDJSON, oldest first"
    let help = CommandHelp(
        discussion: """
            Writes one JSON object a line: the output of 'list --json' with properties, headers and
            body. A text body is the member "body"; any other is hexadecimal in "bodyHexadecimal".
            Without IDs and options all letters are written. They stay dead letters.
            """,
        examples: [
            .init("apus dead-letters export > letters.ndjson", "Writes all letters to a file."),
            .init("apus dead-letters export --app chat | jq -r .body", "Writes the bodies of an app's letters."),
        ],
        exitCodes: DeadLettersCommands.exitCodes
    )
    let options = DeadLettersCommands.filters + [DeadLettersCommands.limit] + CommandOption.configuration
    let operands = Operands.any("ID")

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let selection = try DeadLettersCommands.selection(invocation)
        return try await DeadLettersCommands.read(invocation) { registry in
            try DeadLetterReport.forEachLetter(selection, in: registry) { letter in
                invocation.output.line(DeadLetterReport.report(letter.summary, letter.message).json)
                return !invocation.output.isBroken
            }
        }
    }
}
