import Dispatcher
import EventLoop
import JSON
import PushCore

/// `apus registry copy`.
struct RegistryCopyCommand: Command {
    let name = "copy"
    let summary = "Copy a registry into another store, from SQLite to PostgreSQL or back"
    let help = CommandHelp(
        discussion: """
            Copies devices with their badges and subscriptions, known datasets, topics, record
            subscriptions, tokens, configurations of identity pools, and collected dead letters. FROM
            and TO are each

              sqlite:PATH
              postgresql://USER:PASSWORD@HOST:PORT/DATABASE
              @FILE, a file that holds one of these, so that no other user sees the password

            TO is made if it is not there yet. What TO has already is compared and left alone:
            a copy that was interrupted is begun again with the same command, goes quickly to
            where it was, and one that is repeated writes only what has changed since. What TO
            has besides stays.

            To move workers to another store: copy while they work; stop publishing; let the
            workers empty the work, fan-out and retry queues, because what waits there names
            rows of the old store; stop them; copy once more; start them with the new
            registry.url. Notifications that WEB clients have not fetched yet, and the list of
            large fan-outs, are not copied.
            """,
        examples: [
            .init(
                "apus registry copy sqlite:registry.db @/etc/apus/postgres-url",
                "Moves an SQLite registry into PostgreSQL, with progress on standard error."),
            .init(
                "apus registry copy postgresql://db.example.com/apus sqlite:backup.db --json",
                "Copies a PostgreSQL registry into a file, and prints what was copied for a program."),
        ],
        exitCodes: DeviceRegistry.exitCodes
    )
    let options = [CommandOption.json]
    let operands = Operands.exactly(["FROM", "TO"])

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let (from, to) = try DeviceRegistry.rephrasing {
            let stores = invocation.operands
            return (
                try Configuration.RegistryLocation(operand: stores[0]),
                try Configuration.RegistryLocation(operand: stores[1])
            )
        }
        guard from != to else { throw CommandFailure.usage("FROM and TO are the same registry") }
        let start = MonotonicClock.nowNanoseconds()
        let progress = ProgressLine()
        let counts = try DeviceRegistry.rephrasing {
            let copy = RegistryCopy(from: try from.open(mode: .readOnly), to: try to.open(mode: .create)) { counts in
                progress.update(Self.line(counts))
            }
            return try copy.run()
        }
        progress.finish()
        let seconds = Double(MonotonicClock.nowNanoseconds() - start) / 1e9
        if invocation.isJSON {
            invocation.output.line(Self.json(counts, seconds: seconds))
        } else {
            for kind in RegistryCopyCounts.Kind.allCases {
                let written = counts.written[kind].map { ", \($0) written" } ?? ""
                invocation.output.line("\(Self.name(kind)): \(counts.read[kind] ?? 0) read\(written)")
            }
        }
        return .ok
    }

    // MARK: Output

    private static func name(_ kind: RegistryCopyCounts.Kind) -> String {
        switch kind {
        case .datasets: "known datasets"
        case .topicUsers: "topics of users"
        case .devices: "devices"
        case .subscriptions: "record subscriptions"
        case .tokens: "tokens"
        case .poolConfigurations: "pool configurations"
        case .deadLetters: "dead letters"
        }
    }

    private static func line(_ counts: RegistryCopyCounts) -> String {
        "\(name(counts.current)): \(counts.read[counts.current] ?? 0) read, "
            + "\(counts.written[counts.current] ?? 0) written"
    }

    private static func json(_ counts: RegistryCopyCounts, seconds: Double) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        for (key, values) in [("read", counts.read), ("written", counts.written)] {
            writer.key(dynamic: key)
            writer.beginObject()
            for kind in RegistryCopyCounts.Kind.allCases {
                writer.key(dynamic: kind.rawValue)
                writer.integer(values[kind] ?? 0)
            }
            writer.endObject()
        }
        writer.key("durationSeconds")
        writer.double(seconds)
        writer.endObject()
        return writer.bytes
    }
}
