import Essentials
import EventLoop
import Glibc
import RegistryCore

/// The common parts of 'apus pause' and 'apus resume': the selection of apps, the audit log, and the display of pauses.
enum PausedApps {
    /// The apps that a use of the command names, nil among them for all; nil if it names nothing.
    ///
    /// - Throws: `CommandFailure` if it names apps and all.
    static func selected(_ invocation: CommandInvocation) throws(CommandFailure) -> [String?]? {
        guard invocation.has(PauseCommand.all) else {
            return invocation.operands.isEmpty ? nil : invocation.operands
        }
        guard invocation.operands.isEmpty else {
            throw CommandFailure(.usage, "Give either apps or --all.")
        }
        return [nil]
    }

    /// The user of this machine who gives the command.
    static var userName: String {
        guard let entry = getpwuid(getuid()), let name = entry.pointee.pw_name else { return "user \(getuid())" }
        return String(cString: name)
    }

    /// Does something and writes it into the audit log, also if it fails.
    static func record(
        _ action: AuditEntry.Action, _ app: String?, in registry: any AuditRegistry, _ body: () throws -> Void
    ) throws {
        let now = WallClock.nowMilliseconds()
        let number = try registry.addAuditEntry(
            AuditEntry(
                atMilliseconds: now, user: userName, role: "operator", address: "", process: "apus \(action.rawValue)",
                action: action.rawValue, target: AppPause.auditTarget(of: app), selectedCount: 1,
                progress: AuditEntry.Progress(.running, changedAtMilliseconds: now)))
        do {
            try body()
        } catch {
            try registry.updateAuditEntry(
                number, AuditEntry.Progress(.failed, detail: "\(error)", changedAtMilliseconds: now))
            throw error
        }
        try registry.updateAuditEntry(number, AuditEntry.Progress(.done, doneCount: 1, changedAtMilliseconds: now))
    }

    /// Prints pauses, one a line.
    static func show(_ pauses: [AppPause], to invocation: CommandInvocation, none: String) {
        if pauses.isEmpty, !invocation.isJSON { invocation.output.line(none) }
        for pause in pauses {
            invocation.show(
                ["app": pause.app, "reason": pause.reason, "user": pause.user, "at": pause.atMilliseconds],
                "\(pause.app ?? "all apps")  paused since \(WallTime.text(milliseconds: pause.atMilliseconds))  "
                    + pause.explanation.printable())
        }
    }
}
