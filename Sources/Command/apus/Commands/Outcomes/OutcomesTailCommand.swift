import ChangeEvents
import ChangeQueue
import Metrics
import Notifications
import StructuredLogging
import WorkerConfiguration

/// The group `apus outcomes`.
enum OutcomesCommands {
    /// Its commands.
    static let node = CommandNode.group(
        name: "outcomes",
        summary: "Show what becomes of pushes",
        discussion: """
            An app that sets 'outcomes' has what became of its pushes published to the exchange
            NAMESPACE.outcomes. See deploy/outcomes.md.
            """,
        nodes: [.command(OutcomesTailCommand())]
    )
}

/// `apus outcomes tail`.
struct OutcomesTailCommand: Command {
    private static let app = CommandOption.value("app", "NAME", "Only outcomes of this app.")
    private static let outcome = CommandOption.value(
        "outcome", "NAME", "Only this outcome, for example token-dead. Repeatable.")
    private static let type = CommandOption.value(
        "type", "TYPE", "Only outcomes of events of this type, for example push.requested.")
    private static let event = CommandOption.value("event", "ID", "Only outcomes of the event with this id.")
    private static let limit = CommandOption.value(
        "limit", letter: "n", "COUNT", "End after this many lines. Default: never.")

    let name = "tail"
    let summary = "Show outcomes as they come"
    let help = CommandHelp(
        discussion: """
            Shows a line for each push that ends from now on, until Ctrl-C: time, outcome, app, type and
            id of the event, device, reason. An event that ended before its devices were known has one
            line, without a device. With --json a line is the body of a message. The command reads from
            a queue of its own, which takes no outcome away from others and vanishes with it. If the
            terminal is slow, it misses the oldest outcomes.
            """,
        examples: [
            .init("apus outcomes tail", "Shows everything."),
            .init("apus outcomes tail --app chat --outcome token-dead", "Shows dead tokens of an app."),
            .init(
                "apus outcomes tail --event 6f2c --limit 1 --json", "Waits for an event and prints what became of it."),
        ],
        exitCodes: [.usage, .noPermission, .configuration]
    )
    let options = [app, outcome, type, event, limit, .json] + CommandOption.configuration

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let patterns = try patterns(invocation)
        let limit = try invocation.integer(Self.limit, in: 1...Int.max) ?? .max
        let configuration = try invocation.loadConfiguration(for: .tool).configuration
        guard configuration.apps.contains(where: { !$0.outcomes.isEmpty }) else {
            throw CommandFailure(
                .configuration, "no app publishes outcomes: set app.N.outcomes, for example outcomes = [\"all\"]")
        }
        let signal = try StopSignal()
        try await signal.watch(exitCodeOfSecond: .ok)
        let broker = try invocation.broker(configuration)
        let consumer = try OutcomeConsumer(
            [.temporary(patterns: patterns, prefetch: broker.prefetch)], configuration: broker, connection: "outcomes",
            logger: .silent, metrics: MetricsRegistry())
        // It holds no more than the prefetch, because only settled outcomes make room for others.
        let (events, continuation) = AsyncStream.makeStream(of: OutcomeSourceEvent.self)
        let waiting = Task {
            await signal.wait()
            continuation.finish()
        }
        consumer.start { continuation.yield($0) }
        var printer = OutcomePrinter(invocation, event: invocation.string(Self.event), limit: limit)
        for await event in events {
            switch event {
            case .received(let deliveries, let queue):
                for delivery in deliveries { printer.show(delivery.message) }
                consumer.settle(deliveries.map(\.tag), of: queue)
            case .changed(.misconfigured(let reason), _): throw CommandFailure(.configuration, reason)
            case .changed(.refused(let reason), _): throw CommandFailure(.noPermission, reason)
            case .changed(let state, _): printer.show(state)
            }
            if printer.isDone { break }
        }
        waiting.cancel()
        await consumer.close()
        return .ok
    }

    /// The patterns of the routing keys `OUTCOME.EVENT-TYPE.APP`; an event type has two words.
    private func patterns(_ invocation: CommandInvocation) throws -> [String] {
        let app = try invocation.string(Self.app).map { app throws(CommandFailure) in
            if let requirement = TextRule.app.requirement(brokenBy: app) {
                throw .usage("--app \(app): it must be \(requirement)")
            }
            return app
        }
        let type = try invocation.string(Self.type).map { type throws(CommandFailure) in
            guard let known = EventType(rawValue: type) else {
                throw .usage(
                    "--type \(type): expected one of \(EventType.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            return known.rawValue
        }
        let kinds = try invocation.strings(Self.outcome).map { word throws(CommandFailure) in
            guard let kind = OutcomeKind(rawValue: word) else {
                throw .usage("--outcome \(word): expected one of \(OutcomeKind.listing)")
            }
            return kind.rawValue
        }
        return (kinds.isEmpty ? ["*"] : kinds).map { "\($0).\(type ?? "*.*").\(app ?? "#")" }
    }
}
