import PushCore

/// `apus fanout show`.
struct FanOutShowCommand: Command {
    let name = "show"
    let summary = "Show a large fan-out and its progress"
    let help = CommandHelp(
        discussion: "Shows a fan-out by its number. If the number is unknown, the exit code is 65.",
        examples: [
            .init("apus fanout show 7", "Shows it for people."),
            .init("apus fanout show 7 --json", "Shows it for programs."),
        ],
        exitCodes: DeviceRegistry.exitCodes
    )
    let options = [.json] + CommandOption.configuration
    let operands = Operands.exactly(["NUMBER"])

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let number = try FanOutReport.number(invocation.operands[0])
        try FanOutCommands.use(invocation, mode: .readOnly) { registry in
            guard let fanOut = try registry.fanOut(number) else { throw FanOutReport.missing(number) }
            if invocation.isJSON {
                invocation.output.line(FanOutReport.json(fanOut))
            } else {
                for line in FanOutReport.lines(fanOut) { invocation.output.line(line) }
            }
        }
        return .ok
    }
}
