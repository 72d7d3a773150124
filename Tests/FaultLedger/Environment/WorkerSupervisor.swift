import Glibc
import PushTestKit
import Synchronization

/// Supervises an `apus run` or `apus relay`: whatever ends it, it is started again, until it is told to stop.
final class WorkerSupervisor: Sendable {
    private static let restartSeconds = 0.5
    private static let readySeconds = 60.0

    private struct State {
        var process: WorkerProcess?
        /// How it is started; `prlimit` before the worker for a limit.
        var prefix: [String] = []
        var startCount = 0
        var isStopping = false
        /// Whether the next end is one that the scenario brought about.
        var isEndExpected = false
        var unexpectedExitCodes: [Int32] = []
        var logs: [String] = []
    }

    /// The name: what it is, and its number from 1.
    let name: String
    private let arguments: [String]
    private let folder: TemporaryFolder
    private let state = Mutex(State())

    init(_ name: String, arguments: [String] = ["run"], folder: TemporaryFolder) {
        self.name = name
        self.arguments = arguments
        self.folder = folder
    }

    // MARK: The supervisor

    /// Starts the worker, and goes on starting it.
    func start() throws {
        let process = try WorkerProcess(in: folder, prefix: state.withLock { $0.prefix }, arguments: arguments)
        state.withLock { state in
            state.process = process
            state.startCount += 1
        }
        Task { try await superviseEnd(of: process) }
    }

    private func superviseEnd(of process: WorkerProcess) async throws {
        let result = await process.command.end()
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

    /// Sets the words before the worker on its command line from its next start on, for example `/usr/bin/prlimit`.
    func setPrefix(_ prefix: [String]) { state.withLock { $0.prefix = prefix } }

    // MARK: Behaviour

    private var process: WorkerProcess? { state.withLock { $0.process } }
    private var command: RunningCommand? { process?.command }

    /// The process that runs now.
    var identifier: Int32? { command?.identifier }

    /// How often it was started.
    var startCount: Int { state.withLock { $0.startCount } }

    /// The exit codes of unexpected ends; 128 and more for a signal.
    var unexpectedExitCodes: [Int32] { state.withLock { $0.unexpectedExitCodes } }

    /// The log of all workers that this supervisor has started.
    var log: String {
        state.withLock { state in
            let current = (state.process?.command).flatMap { $0.hasEnded ? nil : $0.errors } ?? ""
            return state.logs.joined() + current
        }
    }

    /// The log of the worker that runs now.
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
        guard let command else { throw EnvironmentFailure("\(name) is not there") }
        let startCount = startCount
        signal(number)
        let result = await command.end()
        // Not before its successor is there, so that the next call asks that one.
        try await eventually("the successor of \(name)", within: .seconds(Self.readySeconds)) {
            self.startCount > startCount
        }
        return result.exitCode
    }

    /// Waits until the worker that runs now has logged a text.
    func waitForLog(_ text: String) async throws {
        try await eventually("'\(text)' in the log of \(name)", within: .seconds(Self.readySeconds)) {
            logOfLatest.contains(text)
        }
    }

    /// Waits until the worker is ready: it consumes, and can send.
    func waitUntilReady() async throws {
        try await eventually("\(name) ready: \(lastLine)", within: .seconds(Self.readySeconds)) {
            await get("/readyz")?.status == 200
        }
    }

    /// Returns an answer of its admin server; nil if there is none yet.
    func get(_ path: String) async -> PlainHTTP.Answer? {
        guard let port = process?.adminPortSoFar else { return nil }
        return await PlainHTTP.requestInBackground("GET", path, port: port)
    }

    private var lastLine: Substring { logOfLatest.split(separator: "\n").last ?? "" }

    // MARK: The end

    /// Asks the worker to drain, and waits until it has ended.
    ///
    /// - Parameter seconds: after this long it is killed.
    /// - Returns: its end; nil if it was never started.
    func drain(seconds: Double) async -> CommandResult? {
        await stopSupervising()?.drain(seconds: seconds)
    }

    /// Kills the worker for good.
    func kill() async {
        await stopSupervising()?.killHard()
    }

    private func stopSupervising() -> WorkerProcess? {
        state.withLock { state in
            state.isStopping = true
            return state.process
        }
    }
}

/// Changes what a running process may have, with `prlimit` of util-linux.
enum ResourceLimit {
    /// Sets soft limits, which leave the hard ones as they are.
    ///
    /// - Parameters:
    ///   - limits: as `prlimit` takes them, for example `--nofile=20:`.
    ///   - identifier: the process.
    ///   - folder: where `prlimit` runs.
    /// - Throws: `EnvironmentFailure` with what `prlimit` said.
    static func set(_ limits: String..., of identifier: Int32, in folder: TemporaryFolder) async throws {
        let result = try await CommandRunner.run(
            "/usr/bin/prlimit", ["--pid", "\(identifier)"] + limits, in: folder)
        guard result.exitCode == 0 else { throw EnvironmentFailure("prlimit: \(result.errors)") }
    }
}
