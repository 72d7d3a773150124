import Glibc
import PushTestKit
import Synchronization

/// A place for an `apus run` and its supervisor: whatever ends it, it is started again, until it is told to stop.
final class WorkerSeat: Sendable {
    private static let restartSeconds = 0.5
    private static let readySeconds = 60.0

    private struct State {
        var command: RunningCommand?
        /// How it is started; `prlimit` before the worker for a limit.
        var prefix: [String] = []
        var startCount = 0
        var isStopping = false
        /// Whether the next end is one that the scenario brought about.
        var isEndExpected = false
        var unexpectedExitCodes: [Int32] = []
        var logs: [String] = []
    }

    /// Its number, from 1.
    let number: Int
    private let folder: TemporaryFolder
    private let state = Mutex(State())

    init(number: Int, folder: TemporaryFolder) {
        self.number = number
        self.folder = folder
    }

    // MARK: The supervisor

    /// Starts the worker, and goes on starting it.
    func start() throws {
        let prefix = state.withLock { $0.prefix }
        let words = prefix + [CommandRunner.apusPath, "run"]
        let command = try RunningCommand(program: words[0], Array(words.dropFirst()), in: folder)
        state.withLock { state in
            state.command = command
            state.startCount += 1
        }
        Task { try await superviseEnd(of: command) }
    }

    private func superviseEnd(of command: RunningCommand) async throws {
        let result = await command.end()
        let isStopping = state.withLock { state in
            state.logs.append(result.errors)
            if !state.isEndExpected, !state.isStopping { state.unexpectedExitCodes.append(result.exitCode) }
            state.isEndExpected = false
            return state.isStopping
        }
        guard !isStopping else { return }
        try await Pause.seconds(Self.restartSeconds)
        if state.withLock({ !$0.isStopping }) { try start() }
    }

    /// What comes before the worker on its command line from its next start on, for example `/usr/bin/prlimit`.
    func setPrefix(_ prefix: [String]) { state.withLock { $0.prefix = prefix } }

    // MARK: What it does

    private var command: RunningCommand? { state.withLock { $0.command } }

    /// The process that runs now.
    var identifier: Int32? { command?.identifier }

    /// How often it was started.
    var startCount: Int { state.withLock { $0.startCount } }

    /// The exit codes that nobody had asked for; 128 and more for a signal.
    var unexpectedExitCodes: [Int32] { state.withLock { $0.unexpectedExitCodes } }

    /// What all workers of this seat have logged.
    var log: String {
        state.withLock { state in
            let current = state.command.flatMap { $0.hasEnded ? nil : $0.errors } ?? ""
            return state.logs.joined() + current
        }
    }

    /// What the worker that runs now has logged.
    var logOfLatest: String { command?.errors ?? "" }

    /// Sends a signal; the end that it may bring is expected.
    func signal(_ number: Int32) {
        state.withLock { state in
            if number != SIGSTOP && number != SIGCONT { state.isEndExpected = true }
        }
        command?.signal(number)
    }

    /// Sends a signal that ends the worker, and waits for the end.
    ///
    /// - Returns: its exit code.
    @discardableResult
    func endBySignal(_ number: Int32) async throws -> Int32 {
        guard let command else { throw StageFailure("worker \(self.number) is not there") }
        let startCount = startCount
        signal(number)
        let result = await command.end()
        // Not before its successor is there, so that whoever asks next asks that one.
        try await eventually("the successor of worker \(self.number)", within: .seconds(Self.readySeconds)) {
            self.startCount > startCount
        }
        return result.exitCode
    }

    /// Waits until the worker that runs now has logged a text.
    func waitForLog(_ text: String) async throws {
        try await eventually("'\(text)' in the log of worker \(number)", within: .seconds(Self.readySeconds)) {
            logOfLatest.contains(text)
        }
    }

    /// Waits until the worker is ready: it consumes, and can send.
    func waitUntilReady() async throws {
        try await eventually("worker \(number) ready: \(lastLine)", within: .seconds(Self.readySeconds)) {
            await get("/readyz")?.status == 200
        }
    }

    /// What its admin server answers; nil if there is none yet.
    func get(_ path: String) async -> PlainHTTP.Answer? {
        guard let port = adminPort else { return nil }
        return await PlainHTTP.requestInBackground("GET", path, port: port)
    }

    private var lastLine: Substring { logOfLatest.split(separator: "\n").last ?? "" }

    private var adminPort: UInt16? {
        for line in logOfLatest.split(separator: "\n") where line.contains(#""admin.listening""#) {
            let digits = line.split(separator: #""port":"#).last?.prefix { $0.isNumber } ?? ""
            return UInt16(digits)
        }
        return nil
    }

    // MARK: The end

    /// Asks the worker to drain, and waits until it has ended.
    ///
    /// - Parameter seconds: after this long it is killed.
    /// - Returns: its end; nil if it was never started.
    func drain(seconds: Double) async -> CommandResult? {
        guard let command = stopSupervising() else { return nil }
        command.signal(SIGTERM)
        let killer = Task {
            try await Pause.seconds(seconds)
            command.signal(SIGKILL)
        }
        defer { killer.cancel() }
        return await command.end()
    }

    /// Kills the worker for good.
    func kill() async {
        guard let command = stopSupervising() else { return }
        command.signal(SIGKILL)
        _ = await command.end()
    }

    private func stopSupervising() -> RunningCommand? {
        state.withLock { state in
            state.isStopping = true
            return state.command
        }
    }
}
