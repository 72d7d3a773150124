import PushCore

/// `apus fanout list`.
struct FanOutListCommand: Command {
    private static let limit = CommandOption.value("limit", letter: "n", "COUNT", "At most so many. Default: all.")

    let name = "list"
    let summary = "List large fan-outs, the newest first"
    let help = CommandHelp(
        discussion: """
            Lists number, state, progress and event. Those that are done are forgotten after a
            day.
            """,
        examples: [
            .init("apus fanout list", "Lists all that the registry remembers."),
            .init("apus fanout list --limit 1 --json", "Prints the newest as a JSON object in one line."),
        ],
        exitCodes: DeviceRegistry.exitCodes
    )
    let options = [Self.limit, .json] + CommandOption.configuration

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        var remaining = try invocation.integer(Self.limit, in: 1...Int.max) ?? .max
        try FanOutCommands.use(invocation, mode: .readOnly) { registry in
            var last: Int64?
            while remaining > 0, !invocation.output.isBroken {
                let page = try registry.fanOuts(before: last, limit: min(remaining, 1_000))
                for fanOut in page {
                    if invocation.isJSON {
                        invocation.output.line(FanOutReport.json(fanOut))
                    } else {
                        invocation.output.line(FanOutReport.line(fanOut))
                    }
                }
                guard let end = page.last?.number else { break }
                last = end
                remaining -= page.count
            }
        }
        return .ok
    }
}
