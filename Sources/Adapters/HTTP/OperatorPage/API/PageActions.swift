import Essentials
import EventLoop
import HTTPServer
import JSON
import RegistryCore
import StructuredLogging
import Synchronization

/// Does what operators ask for, and writes each action to the audit log and to the process's log: who, what, how many.
///
/// Long actions go on in the background, and their entries in the audit log tell the progress. So any process can
/// report it, and a process that ends meanwhile leaves an entry that no longer changes.
final class PageActions: Sendable {
    /// Notes the progress of an action: at most once a second, and every ten seconds even if nothing has changed, so
    /// that a silent entry is one whose process has ended.
    private final class ProgressNotes: Sendable {
        private static let quietSecondsMaximum = 10
        private let store: PageStore
        private let number: Int64
        private let latest = Mutex(PageTally(doneCount: 0))

        init(_ store: PageStore, _ number: Int64) {
            self.store = store
            self.number = number
        }

        /// The counts when the action noted them last.
        var tally: PageTally { latest.withLock { $0 } }

        func note(_ tally: PageTally) { latest.withLock { $0 = tally } }

        /// Writes the notes until its task is cancelled.
        func write() async {
            var written = PageTally(doneCount: 0)
            var quietSeconds = 0
            while (try? await Task.sleep(for: .seconds(1))) != nil {
                quietSeconds += 1
                let tally = tally
                guard tally != written || quietSeconds >= Self.quietSecondsMaximum else { continue }
                written = tally
                quietSeconds = 0
                let progress = AuditEntry.Progress(
                    .running, doneCount: tally.doneCount, refusedCount: tally.refusedCount,
                    changedAtMilliseconds: WallClock.nowMilliseconds())
                // A note that fails is made up for by the next one.
                try? await store.run { [number] in try $0.updateAuditEntry(number, progress) }
            }
        }
    }

    /// How many actions may run in the background of one process.
    private static let runningMaximum = 4

    private let store: PageStore
    private let process: String
    private let logger: Logger
    private let runningCount = Mutex(0)

    init(store: PageStore, process: String, logger: Logger) {
        self.store = store
        self.process = process
        self.logger = logger
    }

    /// Does something in the registry that is quick.
    ///
    /// - Parameters:
    ///   - action: the kind of action.
    ///   - user: the user who asked for it.
    ///   - target: the object of the action.
    ///   - body: does it.
    /// - Returns: the result of `body`.
    /// - Throws: the error of the registry or of `body`; the log says that it failed.
    func perform<Value: Sendable>(
        _ action: AuditEntry.Action, _ user: PageUser, target: String,
        _ body: @escaping @Sendable (any PageRegistry) throws -> Value
    ) async throws -> Value {
        try await performAway(action, user, target: target) { [store] in try await store.run(body) }
    }

    /// Does something elsewhere that is quick; the parameters are those of `perform`.
    @discardableResult
    func performAway<Value: Sendable>(
        _ action: AuditEntry.Action, _ user: PageUser, target: String, _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        let number = try await begin(action, user, target: target, selectedCount: 1).number
        do {
            let value = try await body()
            await end(number, action, user, target, PageTally(doneCount: 1))
            return value
        } catch {
            await end(
                number, action, user, target, PageTally(doneCount: 0, problem: "\(error)", hasFailed: true))
            throw error
        }
    }

    /// Does something in the background.
    ///
    /// - Parameters:
    ///   - action: the kind of action.
    ///   - user: the user who asked for it.
    ///   - target: the object of the action.
    ///   - selectedCount: the number of objects.
    ///   - body: does it, and says how far it is.
    /// - Returns: the entry of the audit log that tells the progress.
    /// - Throws: `PageProblem` if too much is under way, `RegistryError` if the audit log cannot be written; then
    ///   nothing is done.
    func begin(
        _ action: AuditEntry.Action, _ user: PageUser, target: String, selectedCount: Int,
        _ body: @escaping @Sendable (_ progress: @escaping @Sendable (PageTally) -> Void) async throws -> PageTally
    ) async throws -> AuditEntry {
        let hasRoom = runningCount.withLock { count in
            guard count < Self.runningMaximum else { return false }
            count += 1
            return true
        }
        guard hasRoom else {
            throw PageProblem(
                .busy, "\(Self.runningMaximum) actions are under way. Try again when one has ended.",
                fields: [HTTPField("Retry-After", "5")])
        }
        let entry: AuditEntry
        do {
            entry = try await begin(action, user, target: target, selectedCount: selectedCount)
        } catch {
            runningCount.withLock { $0 -= 1 }
            throw error
        }
        Task { [self] in
            let notes = ProgressNotes(store, entry.number)
            let writing = Task { await notes.write() }
            var tally: PageTally
            do {
                tally = try await body { notes.note($0) }
            } catch {
                tally = notes.tally
                tally.problem = "\(error)"
                tally.hasFailed = true
            }
            writing.cancel()
            // The last word is not a note.
            await writing.value
            runningCount.withLock { $0 -= 1 }
            await end(entry.number, action, user, target, tally)
        }
        return entry
    }

    // MARK: The log

    private func begin(
        _ action: AuditEntry.Action, _ user: PageUser, target: String, selectedCount: Int
    ) async throws -> AuditEntry {
        let now = WallClock.nowMilliseconds()
        var entry = AuditEntry(
            atMilliseconds: now, user: user.name, role: user.role.rawValue, address: user.address, process: process,
            action: action.rawValue, target: target.printable().shortened(bytesMaximum: 1_000),
            selectedCount: selectedCount,
            progress: AuditEntry.Progress(.running, changedAtMilliseconds: now))
        entry.number = try await store.run { [entry] in try $0.addAuditEntry(entry) }
        return entry
    }

    private func end(
        _ number: Int64, _ action: AuditEntry.Action, _ user: PageUser, _ target: String, _ tally: PageTally
    ) async {
        logger.log(
            tally.hasFailed ? .error : .info, "page.action",
            [
                .field("user", user.name), .field("address", user.address), .field("action", action.rawValue),
                .field("target", target), .field("done", tally.doneCount), .field("refused", tally.refusedCount),
                .field("outcome", tally.hasFailed ? "failed" : "done"),
            ] + (tally.problem.map { [.field("detail", $0)] } ?? []))
        let progress = AuditEntry.Progress(
            tally.hasFailed ? .failed : .done, doneCount: tally.doneCount, refusedCount: tally.refusedCount,
            detail: tally.problem, changedAtMilliseconds: WallClock.nowMilliseconds())
        do {
            try await store.run { try $0.updateAuditEntry(number, progress) }
        } catch {
            logger.log(
                .error, "page.audit.failed",
                [.field("action", action.rawValue), .field("number", Int(number)), .field("reason", "\(error)")])
        }
    }
}

/// The audit log.
extension PageAPI {
    /// How long a running action may note nothing before its process is taken to have ended.
    private static let silenceMilliseconds: Int64 = 60_000

    /// `GET actions`.
    func auditEntries(_ call: PageCall) async throws -> HTTPResponse {
        let before = try call.number("before")
        let limit = try call.limit(50, atMost: 200)
        let now = nowMilliseconds
        let entries = try await store.run { try $0.auditEntries(before: before, limit: limit) }
        return PageResponse.object { writer in
            writer.array("actions", entries) { Self.write($1, to: &$0, nowMilliseconds: now) }
            writer.member("next", entries.count == limit ? entries.last?.number : nil)
        }
    }

    /// `GET actions/NUMBER`.
    func auditEntry(_ call: PageCall) async throws -> HTTPResponse {
        let number = try PageCall.number(call.values["number"], "the number of the action")
        guard let entry = try await store.run({ try $0.auditEntry(number) }) else {
            throw PageProblem(.notFound, "There is no action \(number) in the audit log.")
        }
        return action(entry, status: 200)
    }

    /// The answer with one action.
    func action(_ entry: AuditEntry, status: Int) -> HTTPResponse {
        let now = nowMilliseconds
        return PageResponse.object(status) { writer in
            writer.object("action") { Self.write(entry, to: &$0, nowMilliseconds: now) }
        }
    }

    private static func write(_ entry: AuditEntry, to writer: inout JSONWriter, nowMilliseconds: Int64) {
        let progress = entry.progress
        let isSilent = nowMilliseconds - progress.changedAtMilliseconds > silenceMilliseconds
        writer.member("number", entry.number)
        writer.member("atMilliseconds", entry.atMilliseconds)
        writer.member("changedAtMilliseconds", progress.changedAtMilliseconds)
        writer.member("user", entry.user)
        writer.member("role", entry.role)
        writer.member("address", entry.address)
        writer.member("process", entry.process)
        writer.member("name", entry.action)
        writer.member("target", entry.target)
        writer.member("state", progress.state == .running && isSilent ? "interrupted" : progress.state.rawValue)
        writer.member("selected", entry.selectedCount)
        writer.member("done", progress.doneCount)
        writer.member("refused", progress.refusedCount)
        writer.member("detail", progress.detail)
    }
}
