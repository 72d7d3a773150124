import PushCore

/// `apus dead-letters list`.
struct DeadLettersListCommand: Command {
    private static let limitDefault = 100
    private static let after = CommandOption.value("after", "ID", "Only letters after this one.")

    let name = "list"
    let summary = "List dead letters: ID, age, attempts, reason, app, type, source and id of the event"
    let help = CommandHelp(
        discussion: """
            Lists dead letters, oldest first, 100 unless --limit is given. The order never changes;
            --after continues after a letter. An ID may be shortened as long as it is unique.
            """,
        examples: [
            .init("apus dead-letters list", "Lists the oldest hundred."),
            .init(
                "apus dead-letters list --reason invalid-json --since 2h --limit 5",
                "Lists at most five recent letters with one reason."),
            .init(
                "apus dead-letters list --after 3f9a1cb27d40 --json", "Prints one JSON object a line, without bodies."),
        ],
        exitCodes: DeadLettersCommands.exitCodes
    )
    let options =
        DeadLettersCommands.filters + [DeadLettersCommands.limit, after, .json] + CommandOption.configuration

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        var selection = try DeadLettersCommands.selection(invocation)
        let limit = selection.limit ?? Self.limitDefault
        // One more than is shown tells whether there are more.
        selection.limit = limit == .max ? limit : limit + 1
        return try await DeadLettersCommands.read(invocation) { registry in
            let last = try invocation.string(Self.after).map { (name) throws(RegistryError) in
                try DeadLetterSelection.letter(named: name, in: registry)
            }
            var shown: DeadLetterSummary?
            var shownCount = 0
            if !invocation.isJSON { invocation.output.line(DeadLetterReport.header) }
            try selection.forEachPage(in: registry, after: last?.number ?? 0) { page in
                for letter in page.prefix(limit - shownCount) {
                    invocation.output.line(
                        invocation.isJSON ? DeadLetterReport.json(letter) : DeadLetterReport.line(letter))
                    shown = letter
                }
                if let shown, shownCount + page.count > limit {
                    StandardError.line("there are more: --after \(shown.shortIdentifier)")
                }
                shownCount += page.count
                return shownCount < limit && !invocation.output.isBroken
            }
            if shownCount == 0 { StandardError.line("no dead letters") }
        }
    }
}
