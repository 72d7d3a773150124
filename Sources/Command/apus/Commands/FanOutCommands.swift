import Dispatcher
import Essentials
import EventLoop
import JSON
import RegistryCore
import WorkerConfiguration

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

    /// Opens the registry that the configuration names and does something with its fan-outs.
    ///
    /// - Parameters:
    ///   - invocation: the use of a command that lists `CommandOption.configuration` among its options.
    ///   - mode: the access to the registry.
    ///   - body: the work.
    /// - Throws: `CommandFailure` for a failure of the registry, and the errors of `body`.
    static func use(
        _ invocation: CommandInvocation, mode: RegistryOpenMode, _ body: (any FanOutRegistry) throws -> Void
    ) throws {
        let configuration = try invocation.loadConfiguration(for: .tool).configuration
        try DeviceRegistry.rephrasing { try body(try configuration.registry.open(mode: mode)) }
    }
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
            invocation.show(json: FanOutReport.json(fanOut), lines: FanOutReport.lines(fanOut))
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

    /// All of a fan-out, a line for each of its properties.
    static func lines(_ fanOut: FanOut) -> [String] {
        var lines = [
            "fan-out    \(fanOut.number)",
            "state      \(fanOut.state.rawValue)",
            "event      \(fanOut.event.identifier)",
            "source     \(fanOut.event.source)",
            "type       \(fanOut.event.type)",
        ]
        if let app = fanOut.event.app { lines.append("app        \(app)") }
        lines.append("devices    \(fanOut.devicesPlanned)\(fanOut.isWhole ? "" : " so far")")
        lines.append("planned    \(fanOut.chunksPlanned) chunks\(fanOut.isWhole ? "" : " so far")")
        lines.append("published  \(fanOut.chunksPublished)")
        lines.append("served     \(fanOut.chunksServed)")
        lines.append("cancelled  \(fanOut.chunksCancelled)")
        lines.append("begun at   \(WallTime.text(milliseconds: fanOut.begunAtMilliseconds))")
        lines.append("changed at \(WallTime.text(milliseconds: fanOut.changedAtMilliseconds))")
        return lines
    }

    private static func progress(_ fanOut: FanOut) -> String {
        "\(fanOut.chunksServed + fanOut.chunksCancelled)/\(fanOut.chunksPlanned)\(fanOut.isWhole ? "" : "+") chunks"
    }

    /// The JSON of a fan-out in one line.
    static func json(_ fanOut: FanOut) -> String {
        var writer = JSONWriter()
        writer.beginObject()
        func text(_ key: String, _ value: String) {
            writer.key(dynamic: key)
            writer.string(value)
        }
        func count(_ key: String, _ value: Int64) {
            writer.key(dynamic: key)
            writer.integer(value)
        }
        count("number", fanOut.number)
        text("state", fanOut.state.rawValue)
        text("eventId", fanOut.event.identifier)
        text("eventSource", fanOut.event.source)
        text("eventType", fanOut.event.type)
        if let app = fanOut.event.app { text("app", app) }
        count("devices", Int64(fanOut.devicesPlanned))
        writer.key("isWhole")
        writer.boolean(fanOut.isWhole)
        count("chunksPlanned", Int64(fanOut.chunksPlanned))
        count("chunksPublished", Int64(fanOut.chunksPublished))
        count("chunksServed", Int64(fanOut.chunksServed))
        count("chunksCancelled", Int64(fanOut.chunksCancelled))
        count("begunAt", fanOut.begunAtMilliseconds)
        count("changedAt", fanOut.changedAtMilliseconds)
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
