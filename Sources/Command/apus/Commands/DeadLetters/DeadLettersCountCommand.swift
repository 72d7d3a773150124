import Essentials
import JSON
import PushCore

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
            guard !invocation.isJSON else { return invocation.output.line(Self.json(counts)) }
            invocation.output.line("COUNT\tREASON\tAPP\tOLDEST")
            for count in counts {
                invocation.output.line(
                    [
                        "\(count.count)", count.reason.printable(), count.app?.printable() ?? "-",
                        DeadLetterReport.age(since: count.oldestMilliseconds),
                    ].joined(separator: "\t"))
            }
        }
    }

    private static func json(_ counts: [DeadLetterCount]) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("count")
        writer.integer(counts.reduce(0) { $0 + $1.count })
        writer.key("counts")
        writer.beginArray()
        for count in counts {
            writer.beginObject()
            writer.key("reason")
            writer.string(count.reason)
            if let app = count.app {
                writer.key("app")
                writer.string(app)
            }
            writer.key("count")
            writer.integer(count.count)
            writer.key("oldestAt")
            writer.integer(count.oldestMilliseconds)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return writer.bytes
    }
}
