import Backoffice
import Dispatcher
import EventLoop
import RegistryCore
import WorkerConfiguration

/// `apus registry copy`.
struct RegistryCopyCommand: Command {
    let name = "copy"
    let summary = "Copy a registry into another store, from SQLite to PostgreSQL or back"
    let help = CommandHelp(
        discussion: """
            Copies devices with their badges and subscriptions, known datasets, topics, record
            subscriptions, tokens, configurations of identity pools, and collected dead letters.
            FROM and TO are each

              sqlite:PATH
              postgresql://USER:PASSWORD@HOST:PORT/DATABASE
              @FILE, a file with one of these, which hides the password from other users

            A missing TO is created. Existing rows of TO are compared and kept. An interrupted copy
            continues with the same command, and a repeated copy writes only changes.

            To move workers to another store:
              1. Copy while the workers run.
              2. Stop publishing. Replay or purge the dead letters that are left out, see below.
              3. Wait until the workers have emptied the work, fan-out and retry queues, because
                 messages there refer to rows of the old store. Stop the workers.
              4. Copy again.
              5. Start the workers with the new registry.url.
            Unfetched notifications of WEB clients, counts of campaigns and the list of large fan-outs
            are not copied.

            Some dead letters refer to rows of FROM and are left out: parts of large fan-outs, and
            record events that only some devices wait for. TO has other row numbers, so a replay
            there would reach no device, or the wrong subscription. They stay in FROM and are
            counted; the exit code is still 0. Replay or purge them with FROM as registry.url while
            workers use FROM. 'apus dead-letters list' first collects letters from the queue, which
            a copy does not see.

            If a copied dead letter is replayed or purged in FROM, purge it in TO as well, or its
            pushes can go out twice. If it is replayed or purged in TO, the next copy brings it back
            while FROM has it.

            An invalid name in FROM, for example with a control character, ends the copy. The error
            names the row and the command that removes it.

            The courier key is copied, so that the URLs of WEB clients stay valid. If TO has its own
            key, the key stays, and WEB clients of FROM request new URLs.
            """,
        examples: [
            .init(
                "apus registry copy sqlite:registry.db @/etc/apus/postgres-url",
                "Copies an SQLite registry to PostgreSQL, with progress on standard error."),
            .init(
                "apus registry copy postgresql://db.example.com/apus sqlite:backup.db --json",
                "Copies a PostgreSQL registry to a file, and prints the counts as JSON."),
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
                "warning: TO keeps its own courier key, so WEB clients of FROM will request new URLs")
        }
        let seconds = Double(MonotonicClock.nowNanoseconds() - start) / 1e9
        invocation.show(json: Self.report(counts, seconds: seconds).json, lines: Self.lines(counts))
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

    /// The advice for the rows that were left out; nil if none were.
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

    private static func lines(_ counts: RegistryCopyCounts) -> [String] {
        RegistryCopyCounts.Kind.allCases.map { kind in
            let written = counts.written[kind].map { ", \($0) written" } ?? ""
            let isShort = kind == .deadLetters && counts.deadLettersLeftOut > 0
            let leftOut = isShort ? ", \(counts.deadLettersLeftOut) left out" : ""
            return "\(name(kind)): \(counts.read[kind] ?? 0) read\(written)\(leftOut)"
        }
    }

    private static func report(_ counts: RegistryCopyCounts, seconds: Double) -> Report {
        func report(_ values: [RegistryCopyCounts.Kind: Int]) -> Report {
            Report(RegistryCopyCounts.Kind.allCases.map { .init($0.rawValue, values[$0] ?? 0) })
        }
        return [
            "read": report(counts.read), "written": report(counts.written),
            "leftOut": [RegistryCopyCounts.Kind.deadLetters.rawValue: counts.deadLettersLeftOut] as Report,
            "durationSeconds": seconds,
        ]
    }
}
