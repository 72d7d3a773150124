import EventLoop
import RegistryCore

/// The group `apus fanout`.
enum FanOutCommands {
    /// Its commands.
    static let node = CommandNode.group(
        name: "fanout",
        summary: "List, show and cancel large fan-outs",
        discussion: """
            An event to more devices than 'fanout.threshold_devices' is split into chunks, which all
            workers serve. The registry records the progress of each.
            """,
        nodes: [
            .command(FanOutListCommand()),
            .command(FanOutShowCommand()),
            .command(FanOutCancelCommand()),
        ]
    )
}

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
        let limit = try invocation.integer(Self.limit, in: 1...Int.max) ?? .max
        try DeviceRegistry.use(invocation, mode: .readOnly) { registry, _ in
            try invocation.forEachPage(limit: limit) { last, limit in
                try registry.fanOuts(before: last?.number, limit: limit)
            } _: { page in
                for fanOut in page { invocation.show(FanOutReport.report(fanOut), FanOutReport.line(fanOut)) }
            }
        }
        return .ok
    }
}

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
        try DeviceRegistry.use(invocation, mode: .readOnly) { registry, _ in
            guard let fanOut = try registry.fanOut(number) else { throw FanOutReport.missing(number) }
            let report = FanOutReport.report(fanOut)
            invocation.show(json: report.json, lines: report.lines(gap: 1))
        }
        return .ok
    }
}

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
        try DeviceRegistry.use(invocation, mode: .readWrite) { registry, _ in
            let found = try registry.cancelFanOut(number, nowMilliseconds: WallClock.nowMilliseconds())
            guard let fanOut = found else { throw FanOutReport.missing(number) }
            guard fanOut.state == .cancelled else {
                throw CommandFailure(.data, "Fan-out \(number) has ended: each of its chunks is done.")
            }
            invocation.show(FanOutReport.report(fanOut), FanOutReport.line(fanOut))
        }
        return .ok
    }
}

/// Prints large fan-outs, for people or for programs.
enum FanOutReport {
    /// Reads the number of a fan-out.
    static func number(_ text: String) throws -> Int64 {
        guard let number = Int64(text), number > 0 else {
            throw CommandFailure(
                .usage, "\"\(text.prefix(100))\" is not the number of a fan-out; 'apus fanout list' shows the numbers.")
        }
        return number
    }

    /// Says that there is no such fan-out.
    static func missing(_ number: Int64) -> RegistryError {
        RegistryError(
            .notFound, "The registry has no fan-out \(number). 'apus fanout list' shows the numbers.")
    }

    /// One line of a list.
    static func line(_ fanOut: FanOut) -> String {
        return "\(fanOut.number)  \(fanOut.state.rawValue)  \(progress(fanOut))  \(fanOut.devicesPlanned) devices  "
            + "\(fanOut.event.type)  \(fanOut.event.identifier)"
    }

    /// All of a fan-out.
    static func report(_ fanOut: FanOut) -> Report {
        let soFar = fanOut.isWhole ? "" : " so far"
        return Report([
            .init("number", fanOut.number, label: "fan-out"),
            .init("state", fanOut.state.rawValue, label: "state"),
            .init("eventId", fanOut.event.identifier, label: "event"),
            .init("eventSource", fanOut.event.source, label: "source"),
            .init("eventType", fanOut.event.type, label: "type"),
            .init("app", fanOut.event.app, label: "app"),
            .init("devices", fanOut.devicesPlanned, label: "devices", text: "\(fanOut.devicesPlanned)\(soFar)"),
            .init("isWhole", fanOut.isWhole),
            .init(
                "chunksPlanned", fanOut.chunksPlanned, label: "planned",
                text: "\(fanOut.chunksPlanned) chunks\(soFar)"),
            .init("chunksPublished", fanOut.chunksPublished, label: "published"),
            .init("chunksServed", fanOut.chunksServed, label: "served"),
            .init("chunksCancelled", fanOut.chunksCancelled, label: "cancelled"),
            .init(time: "begunAt", fanOut.begunAtMilliseconds, label: "begun at"),
            .init(time: "changedAt", fanOut.changedAtMilliseconds, label: "changed at"),
        ])
    }

    private static func progress(_ fanOut: FanOut) -> String {
        "\(fanOut.chunksServed + fanOut.chunksCancelled)/\(fanOut.chunksPlanned)\(fanOut.isWhole ? "" : "+") chunks"
    }
}
