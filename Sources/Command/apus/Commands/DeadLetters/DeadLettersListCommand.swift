import PushCore

/// `apus dead-letters list`.
struct DeadLettersListCommand: Command {
    private static let limitDefault = 100
    private static let after = CommandOption.value("after", "ID", "Only letters after this one in the order.")

    let name = "list"
    let summary = "List dead letters: ID, age, attempts, reason, app, type, source and id of the event"
    let help = CommandHelp(
        discussion: """
            Lists the oldest dead letters first, 100 unless --limit says otherwise. The order
            never changes; --after goes on after a letter. An ID may be shortened as long as it
            names one letter only.
            """,
        examples: [
            .init("apus dead-letters list", "Shows the oldest hundred."),
            .init("apus dead-letters list --reason invalid-json --since 2h --limit 5", "Only some."),
            .init("apus dead-letters list --after 3f9a1cb27d40 --json", "One JSON object a line, without bodies."),
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
