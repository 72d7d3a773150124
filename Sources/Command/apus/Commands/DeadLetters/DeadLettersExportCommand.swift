import PushCore

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
                invocation.output.line(DeadLetterReport.json(letter.summary, letter.message))
                return !invocation.output.isBroken
            }
        }
    }
}
