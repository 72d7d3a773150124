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

            To move workers to another store: copy while they work; stop publishing; replay or
            purge the dead letters that are left out, see below; let the workers empty the work,
            fan-out and retry queues, because what waits there names rows of the old store; stop
            them; copy once more; start them with the new registry.url. Notifications that WEB
            clients have not fetched yet, and the list of large fan-outs, are not copied.

            Dead letters that name rows of FROM are left out: those of record events that only
            some devices still wait for, and parts of large fan-outs. TO numbers its rows anew,
            so a replay there would push to nobody, or for another subscription. They stay in
            FROM and are counted; the exit code is 0 all the same. Replay or purge them with FROM
            as registry.url before you move, while workers use FROM; 'apus dead-letters list'
            first collects those that still wait in their queue, which no copy sees.

            A dead letter that was copied and then replayed or purged in FROM stays in TO:
            purge it there, too, or its pushes can go out twice. One that was replayed or purged
            in TO comes back with the next copy as long as FROM has it.

            A name in FROM that is not accepted any more, for example one with a control
            character, ends the copy: the message says where it is and which command removes it.

            The courier key goes along, so that the URLs of WEB clients stay good. If TO
            has one of its own, it stays, and the WEB clients of FROM ask for new URLs.
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
        progress.finish(Self.advice(counts))
        if counts.keepsOtherCourierKey {
            StandardError.line(
                "warning: TO has a key of its own for the URLs of WEB clients; those of FROM will ask for new ones")
        }
        let seconds = Double(MonotonicClock.nowNanoseconds() - start) / 1e9
        if invocation.isJSON {
            invocation.output.line(Self.json(counts, seconds: seconds))
        } else {
            for kind in RegistryCopyCounts.Kind.allCases {
                let written = counts.written[kind].map { ", \($0) written" } ?? ""
                let isShort = kind == .deadLetters && counts.deadLettersLeftOut > 0
                let leftOut = isShort ? ", \(counts.deadLettersLeftOut) left out" : ""
                invocation.output.line("\(Self.name(kind)): \(counts.read[kind] ?? 0) read\(written)\(leftOut)")
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

    /// What to do about what was left out; nil if nothing was.
    private static func advice(_ counts: RegistryCopyCounts) -> String? {
        let count = counts.deadLettersLeftOut
        guard count > 0 else { return nil }
        let named = counts.deadLettersLeftOutFirst.map { $0.prefix(DeadLetterSummary.shortIdentifierCount) }
        let more = count > named.count ? " and \(count - named.count) more" : ""
        return """
            \(count) dead \(count == 1 ? "letter was" : "letters were") left out, because a replay needs rows of FROM, \
            which have other numbers in TO. Before workers change to TO, replay or purge with FROM as registry.url: \
            apus dead-letters replay \(named.joined(separator: " "))\(more)
            """
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
        writer.key("leftOut")
        writer.beginObject()
        writer.key(dynamic: RegistryCopyCounts.Kind.deadLetters.rawValue)
        writer.integer(counts.deadLettersLeftOut)
        writer.endObject()
        writer.key("durationSeconds")
        writer.double(seconds)
        writer.endObject()
        return writer.bytes
    }
}
