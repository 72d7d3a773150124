import Essentials
import EventLoop
import RegistryCore
import WorkerConfiguration

/// `apus pause`.
struct PauseCommand: Command {
    static let all = CommandOption.flag("all", "All apps, also those that are configured later.")
    private static let reason = CommandOption.value("reason", letter: "m", "TEXT", "Why, for other operators.")

    let name = "pause"
    let summary = "Let the pushes of an app, or of all, wait; or list what waits"
    let help = CommandHelp(
        discussion: """
            Nothing is sent for a paused app. Its pushes wait in the retry queues; if all apps are
            paused, the workers consume nothing. No attempt is spent and nothing is lost, but pushes
            that expire meanwhile are not sent later. Requests that a push service has are answered.

            The pause is kept in the registry, so it outlives restarts and holds for all workers
            within seconds. They stay ready, and say in /readyz and on the operator's page that they
            are degraded. 'apus resume' ends it: a push is back after at most as long as it has
            waited, and after a quarter of an hour at the latest.

            Without an operand it lists the pauses. Each change is in the audit log.
            """,
        examples: [
            .init("apus pause chat --reason 'a bad release'", "Pauses one app."),
            .init("apus pause --all --reason 'the database moves'", "Pauses all apps."),
            .init("apus pause --json", "Prints a JSON object for each pause, one a line."),
        ],
        exitCodes: DeviceRegistry.exitCodes
    )
    let options = [Self.all, Self.reason, .json] + CommandOption.configuration
    let operands = Operands.any("APP")

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        guard let apps = try PausedApps.selected(invocation) else {
            guard invocation.string(Self.reason) == nil else {
                throw CommandFailure(.usage, "--reason says nothing without an app or --all.")
            }
            try DeviceRegistry.use(invocation, mode: .readOnly) { registry, _ in
                PausedApps.show(try registry.pauses(), to: invocation, none: "Nothing is paused.")
            }
            return .ok
        }
        try DeviceRegistry.use(invocation, mode: .readWrite) { registry, configuration in
            let configured = configuration.apps.map(\.name)
            if let unknown = apps.compactMap({ $0 }).first(where: { !configured.contains($0) }) {
                throw CommandFailure(
                    .data,
                    "There is no app \(unknown.excerpt): expected one of \(configured.joined(separator: ", ")), "
                        + "or --all.")
            }
            let pauses = apps.map { app in
                AppPause(
                    app: app, reason: invocation.string(Self.reason) ?? "", user: PausedApps.userName,
                    atMilliseconds: WallClock.nowMilliseconds())
            }
            for pause in pauses {
                try pause.check()
                try PausedApps.record(.pause, pause.app, in: registry) { try registry.setPause(pause) }
            }
            PausedApps.show(pauses, to: invocation, none: "")
        }
        return .ok
    }
}

/// `apus resume`.
struct ResumeCommand: Command {
    let name = "resume"
    let summary = "End the pause of an app, or of all"
    let help = CommandHelp(
        discussion: """
            Ends what 'apus pause' began; workers follow within seconds. An app that was paused by
            itself stays paused when the pause of all ends. If there is no such pause, the exit code
            is 65.
            """,
        examples: [
            .init("apus resume chat", "Sends the pushes of an app again."),
            .init("apus resume --all", "Ends the pause of all apps."),
        ],
        exitCodes: DeviceRegistry.exitCodes
    )
    let options = [PauseCommand.all, .json] + CommandOption.configuration
    let operands = Operands.any("APP")

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        guard let apps = try PausedApps.selected(invocation) else {
            throw CommandFailure(.usage, "Name an app, or give --all; 'apus pause' lists what is paused.")
        }
        try DeviceRegistry.use(invocation, mode: .readWrite) { registry, _ in
            for app in apps {
                let found = try registry.pauses()
                guard found.contains(where: { $0.app == app }) else {
                    let isAll = app != nil && found.contains { $0.app == nil }
                    throw CommandFailure(
                        .data,
                        (app.map { "The app \($0.excerpt) is not paused" } ?? "All apps together are not paused")
                            + (isAll ? " by itself, but all are: apus resume --all" : ".")
                            + (isAll || found.isEmpty ? "" : " 'apus pause' lists what is."))
                }
                try PausedApps.record(.resume, app, in: registry) { _ = try registry.removePause(app: app) }
            }
            let rest = try registry.pauses()
            PausedApps.show(rest, to: invocation, none: "Nothing is paused any more.")
        }
        return .ok
    }
}
