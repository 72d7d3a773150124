import PushCore

/// `apus dead-letters show`.
struct DeadLettersShowCommand: Command {
    let name = "show"
    let summary = "Show dead letters whole: properties, headers and body"
    let help = CommandHelp(
        discussion: """
            Takes IDs, as 'apus dead-letters list' prints them; the beginning of one will do if
            no other letter begins so. What a terminal could be steered by is escaped. A body
            that is not text is printed in hexadecimal with --json.
            """,
        examples: [
            .init("apus dead-letters show 3f9a1cb27d40", "Shows a letter to a person."),
            .init("apus dead-letters show 3f9a 77e0 --json", "Shows two letters to a program."),
        ],
        exitCodes: DeadLettersCommands.exitCodes
    )
    let options = [CommandOption.json] + CommandOption.configuration
    let operands = Operands.oneOrMore("ID")

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let selection = DeadLetterSelection(identifiers: invocation.operands)
        return try await DeadLettersCommands.read(invocation) { registry in
            try DeadLetterReport.forEachLetter(selection, in: registry) { letter in
                if invocation.isJSON {
                    invocation.output.line(DeadLetterReport.json(letter.summary, letter.message))
                } else {
                    for line in DeadLetterReport.lines(letter) { invocation.output.line(line) }
                }
                return !invocation.output.isBroken
            }
        }
    }
}
