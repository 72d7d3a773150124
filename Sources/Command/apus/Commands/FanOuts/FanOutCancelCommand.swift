import EventLoop
import PushCore

/// `apus fanout cancel`.
struct FanOutCancelCommand: Command {
    let name = "cancel"
    let summary = "Cancel a large fan-out"
    let help = CommandHelp(
        discussion: """
            Chunks that have not begun are not sent; one under way stops at its next page. What
            was sent stays sent, and what waits for a retry is tried again. One that is done
            gives the exit code 65, as does one that is not there.
            """,
        examples: [
            .init("apus fanout cancel 7", "Cancels a fan-out."),
            .init("apus fanout cancel 7 --json", "Does so, and prints what it has come to as a JSON object."),
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
                throw CommandFailure(.data, "Fan-out \(number) is done: each of its chunks has ended.")
            }
            invocation.output.line(invocation.isJSON ? FanOutReport.json(fanOut) : FanOutReport.line(fanOut))
        }
        return .ok
    }
}
