import ChangeQueue

/// `apus dead-letters show`.
struct DeadLettersShowCommand: Command {
    let name = "show"
    let summary = "Show dead letters whole: properties, headers and body"
    let help = CommandHelp(
        discussion: """
            Takes a place in the queue, as 'apus dead-letters list' prints it, or else a message
            identifier. Nothing is consumed. A body that is not text is printed in hexadecimal
            with --json.
            """,
        examples: [
            .init("apus dead-letters show 1", "Shows the oldest dead letter."),
            .init("apus dead-letters show 6f1c8d2e-6b1c-4b6f-9d53-0a6a8a7a51d2", "All with that message identifier."),
        ],
        exitCodes: [.data, .unavailable, .noPermission, .configuration]
    )
    let options = [CommandOption.json] + CommandOption.configuration
    let operands = Operands.exactly(["POSITION-OR-MESSAGE-ID"])

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let operand = invocation.operands[0]
        let letters = try DeadLettersCommands.letters(invocation)
        do {
            var found: [DeadLetter] = []
            if let position = Int(operand), position > 0 {
                found = try await letters.show(DeadLetterSelection(position: position))
            }
            // A message identifier may be a number, too.
            if found.isEmpty { found = try await letters.show(DeadLetterSelection(messageID: operand, limit: 10)) }
            guard !found.isEmpty else { throw CommandFailure(.data, "there is no dead letter \(operand)") }
            for letter in found {
                if invocation.isJSON {
                    invocation.output.line(DeadLetterReport.json(letter, withBody: true))
                } else {
                    invocation.output.line(DeadLetterReport.text(letter))
                }
            }
            return .ok
        } catch let error as ChangeQueueError { throw CommandFailure(error) }
    }
}
