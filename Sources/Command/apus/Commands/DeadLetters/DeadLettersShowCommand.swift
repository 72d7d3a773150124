import PushCore

/// `apus dead-letters show`.
struct DeadLettersShowCommand: Command {
    let name = "show"
    let summary = "Show dead letters with properties, headers and body"
    let help = CommandHelp(
        discussion: """
            Shows letters by their IDs from 'apus dead-letters list'; a unique beginning of an ID is
            enough. Control characters are escaped. With --json a body that is not text is
            hexadecimal.
            """,
        examples: [
            .init("apus dead-letters show 3f9a1cb27d40", "Shows a letter for people."),
            .init("apus dead-letters show 3f9a 77e0 --json", "Shows two letters for programs."),
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
