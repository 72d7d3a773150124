import PushCore

/// `apus fanout list`.
struct FanOutListCommand: Command {
    private static let limit = CommandOption.value(
        "limit", letter: "n", "COUNT", "The most fan-outs to list. Default: all.")

    let name = "list"
    let summary = "List large fan-outs, newest first"
    let help = CommandHelp(
        discussion: """
            Lists number, state, progress and event. A fan-out is forgotten a day after its end.
            """,
        examples: [
            .init("apus fanout list", "Lists all fan-outs."),
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
