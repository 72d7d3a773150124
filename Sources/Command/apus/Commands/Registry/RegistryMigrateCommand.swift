import Dispatcher
import EventLoop
import RegistryCore
import WorkerConfiguration

/// `apus registry migrate`.
struct RegistryMigrateCommand: Command {
    private static let to = CommandOption.value(
        "to", "VERSION", "The wanted version of the schema. Default: the newest, or with --down the one before.")
    private static let down = CommandOption.flag(
        "down", "Undo migrations, newest first. What was stored in their tables is lost.")
    private static let dryRun = CommandOption.flag(
        "dry-run", "Print what would be done, with the statements, and change nothing.")

    let name = "migrate"
    let summary = "Bring the registry's schema to the newest version, or back"
    let help = CommandHelp(
        discussion: """
            Nothing else migrates a registry: a new one begins with the newest schema, and a
            program that finds an older one works with it, leaves out what is missing, and warns
            (registry.migration.waiting in the log, 'apus check --connect').

            Each migration is one transaction, and it is done whole or not at all. Workers and
            servers go on meanwhile. Several commands at once take turns, and each migration is
            done once. On PostgreSQL, a migration that does not get the lock of a table within
            three seconds gives up and exits with 69; run it again.

            The registry says the oldest schema that a program must know. A migration that only
            adds leaves that as it is, so the previous release runs beside this one. A program
            that is too old refuses to start and names the command that helps.

            To upgrade: migrate, then replace the workers one by one. To go back: replace the
            workers by the previous release. Undo the migration only if that release refuses the
            registry, and before this one is gone. Make a backup first, see 'deploy/backup.md'.

            The PostgreSQL user of registry.url must own the tables. New tables get the rights
            that other users have to the table 'device'.
            """,
        examples: [
            .init("apus registry migrate --dry-run", "Shows what waits, with the statements and their locks."),
            .init("apus registry migrate", "Does it."),
            .init("apus registry migrate --down --to 1", "Goes back to version 1."),
        ],
        exitCodes: DeviceRegistry.exitCodes
    )
    let options = [to, down, dryRun, CommandOption.json] + CommandOption.configuration

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let target = try invocation.integer(Self.to, in: 1...Int(Int32.max)).map(Int64.init)
        let configuration = try invocation.loadConfiguration(for: .tool).configuration
        return try DeviceRegistry.rephrasing {
            let migrator = try configuration.registry.migrator()
            let state = try migrator.schemaState()
            let plan =
                invocation.has(Self.down)
                ? try MigrationPlan(down: state, to: target, migrator.migrations)
                : try MigrationPlan(up: state, to: target, migrator.migrations)
            var report = MigrationReport(migrator.location, before: state, invocation)
            for step in plan.steps {
                if invocation.has(Self.dryRun) {
                    report.addPlanned(step)
                } else {
                    report.begin(step)
                    let start = MonotonicClock.nowNanoseconds()
                    let isPerformed = try migrator.perform(step)
                    let seconds = Double(MonotonicClock.nowNanoseconds() - start) / 1e9
                    report.addDone(step, seconds: isPerformed ? seconds : nil)
                }
            }
            report.finish(after: try migrator.schemaState(), newest: migrator.migrations.newest)
            return .ok
        }
    }
}

/// The output of `apus registry migrate`: lines for people as they come, or one JSON object at the end.
struct MigrationReport {
    private let location: String
    private let before: SchemaState
    private let isJSON: Bool
    private let output: StandardOutput
    private var steps: [(step: MigrationStep, result: String, seconds: Double?)] = []

    init(_ location: String, before: SchemaState, _ invocation: CommandInvocation) {
        self.location = location
        self.before = before
        isJSON = invocation.isJSON
        output = invocation.output
        guard !isJSON else { return }
        output.line(
            "\(location): schema version \(before.version), for programs from \(before.minimumProgramSchema) on")
    }

    /// Shows a step that a dry run leaves undone, as SQL.
    mutating func addPlanned(_ step: MigrationStep) {
        steps.append((step, "planned", nil))
        guard !isJSON else { return }
        output.lines(Self.title(step))
        output.line("  \(step.migration.impact)")
        output.lines(step.statements)
    }

    /// Says what is tried, because it may take its time or fail.
    func begin(_ step: MigrationStep) {
        guard !isJSON else { return }
        output.lines(Self.title(step))
        output.flush()
    }

    /// Takes a step that was done; without a time, another process did it.
    mutating func addDone(_ step: MigrationStep, seconds: Double?) {
        steps.append((step, seconds == nil ? "done by another" : "done", seconds))
        guard !isJSON else { return }
        let milliseconds = seconds.map { Int(($0 * 1_000).rounded()) }
        output.line(milliseconds.map { "  done in \($0) ms" } ?? "  another process did it meanwhile")
        output.flush()
    }

    /// Prints the rest.
    func finish(after: SchemaState, newest: Int64) {
        guard !isJSON else { return output.line(report(after: after, newest: newest).json) }
        if steps.contains(where: { $0.result == "planned" }) {
            output.line("nothing was changed; without --dry-run these migrations are done")
        } else {
            let rest = after.version > newest ? ", of a newer Apus than this one" : ""
            let advice = after.version < newest ? ", and version \(newest) is waiting" : rest
            output.line(
                "now: schema version \(after.version), for programs from \(after.minimumProgramSchema) on\(advice)")
        }
    }

    private static func title(_ step: MigrationStep) -> String {
        "\(step.direction == .up ? "do" : "undo") \(step.migration.version): \(step.migration.summary)"
    }

    private func report(after: SchemaState, newest: Int64) -> Report {
        func report(_ state: SchemaState) -> Report {
            ["version": state.version, "minimumProgramSchema": state.minimumProgramSchema]
        }
        return [
            "registry": location, "before": report(before), "after": report(after), "newest": newest,
            "steps": steps.map { step, result, seconds in
                [
                    "version": step.migration.version, "direction": step.direction.rawValue, "result": result,
                    "summary": step.migration.summary, "impact": step.migration.impact,
                    "statements": step.statements, "durationSeconds": seconds,
                ] as Report
            },
        ]
    }
}
