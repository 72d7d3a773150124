import EventLoop
import PushCore

/// `apus fanout cancel`.
struct FanOutCancelCommand: Command {
    let name = "cancel"
    let summary = "Cancel a large fan-out"
    let help = CommandHelp(
        discussion: """
            Chunks that have not begun are not sent, and a chunk in progress stops at its next page.
            Retries of pushes that were sent go on. If the fan-out has ended or is unknown, the exit
            code is 65.
            """,
        examples: [
            .init("apus fanout cancel 7", "Cancels a fan-out."),
            .init("apus fanout cancel 7 --json", "Cancels it, and prints its state as a JSON object."),
        ],
        exitCodes: DeviceRegistry.exitCodes
    )
    let options = [.json] + CommandOption.configuration
    let operands = Operands.exactly(["NUMBER"])

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let number = try FanOutReport.number(invocation.operands[0])
        try FanOutCommands.use(invocation, mode: .readWrite) { registry in
            let found = try registry.cancelFanOut(number, nowMilliseconds: WallClock.nowMilliseconds())
            guard let fanOut = found else { throw FanOutReport.missing(number) }
            guard fanOut.state == .cancelled else {
                throw CommandFailure(.data, "Fan-out \(number) has ended: each of its chunks is done.")
            }
            invocation.output.line(invocation.isJSON ? FanOutReport.json(fanOut) : FanOutReport.line(fanOut))
        }
        return .ok
    }
}
