import Backoffice
import RegistryCore

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
            invocation.showHeader(DeadLetterReport.header)
            try selection.forEachPage(in: registry, after: last?.number ?? 0) { page in
                for letter in page.prefix(limit - shownCount) {
                    invocation.show(DeadLetterReport.report(letter), columns: DeadLetterReport.columns(letter))
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
                invocation.show(
                    json: DeadLetterReport.report(letter.summary, letter.message).json,
                    lines: DeadLetterReport.lines(letter))
                return !invocation.output.isBroken
            }
        }
    }
}

/// `apus dead-letters count`.
struct DeadLettersCountCommand: Command {
    let name = "count"
    let summary = "Count dead letters by reason and app"
    let help = CommandHelp(
        discussion: """
            Counts letters by reason and app, with the age of the oldest. Commands collect letters
            from the queue NAMESPACE.dead-letter, so alert on this count and not on the depth of the
            queue.
            """,
        examples: [
            .init("apus dead-letters count", "Prints a line for each reason and app."),
            .init("apus dead-letters count --since 1h --json | jq .count", "Prints a number for an alert."),
        ],
        exitCodes: DeadLettersCommands.exitCodes
    )
    let options = DeadLettersCommands.filters + [.json] + CommandOption.configuration

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let filter = try DeadLettersCommands.selection(invocation).filter
        return try await DeadLettersCommands.read(invocation) { registry in
            let counts = try registry.deadLetterCounts(matching: filter)
            invocation.show(json: Self.report(counts).json, lines: Self.lines(counts))
        }
    }

    private static func lines(_ counts: [DeadLetterCount]) -> [String] {
        let rows = counts.map { count in
            [
                "\(count.count)", count.reason, count.app ?? "-",
                DeadLetterReport.age(since: count.oldestMilliseconds),
            ]
        }
        return ([["COUNT", "REASON", "APP", "OLDEST"]] + rows).map(CommandInvocation.row)
    }

    private static func report(_ counts: [DeadLetterCount]) -> Report {
        [
            "count": counts.reduce(0) { $0 + $1.count },
            "counts": counts.map { count in
                [
                    "reason": count.reason, "app": count.app, "count": count.count,
                    "oldestAt": count.oldestMilliseconds,
                ] as Report
            },
        ]
    }
}
