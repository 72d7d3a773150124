import Foundation
import Synchronization

/// A command that runs until a test ends it.
public final class RunningCommand: Sendable {
    /// Holds the result for whoever waits, so that the process's own callback needs nothing else.
    private final class Ending: Sendable {
        private struct State {
            var result: CommandResult?
            var waiters: [CheckedContinuation<CommandResult, Never>] = []
        }

        private let state = Mutex(State())

        var isFinished: Bool { state.withLock { $0.result != nil } }

        func finish(_ result: CommandResult) {
            let waiters = state.withLock { state in
                state.result = result
                defer { state.waiters = [] }
                return state.waiters
            }
            for waiter in waiters { waiter.resume(returning: result) }
        }

        func wait() async -> CommandResult {
            await withCheckedContinuation { continuation in
                let result = state.withLock { state in
                    if state.result == nil { state.waiters.append(continuation) }
                    return state.result
                }
                if let result { continuation.resume(returning: result) }
            }
        }
    }

    /// The process identifier.
    public let identifier: Int32
    private let files: TemporaryFolder
    private let ending = Ending()

    /// Starts `apus`.
    ///
    /// - Parameters:
    ///   - arguments: what follows the name of the command.
    ///   - folder: where it runs.
    /// - Throws: an error of Foundation if it cannot be started.
    public init(_ arguments: [String], in folder: TemporaryFolder) throws {
        let files = try TemporaryFolder()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: CommandRunner.apusPath)
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
        process.environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("APUS_") }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle(forWritingAtPath: try files.write("output", ""))
        process.standardError = FileHandle(forWritingAtPath: try files.write("errors", ""))
        let ending = ending
        process.terminationHandler = { process in
            let isSignal = process.terminationReason == .uncaughtSignal
            ending.finish(
                CommandResult(
                    exitCode: (isSignal ? 128 : 0) + process.terminationStatus,
                    output: (try? files.read("output")) ?? "", errors: (try? files.read("errors")) ?? ""))
        }
        try process.run()
        identifier = process.processIdentifier
        self.files = files
    }

    deinit { signal(SIGKILL) }

    /// Whether it has ended by now.
    public var hasEnded: Bool { ending.isFinished }

    /// What it has written to standard error so far.
    public var errors: String { (try? files.read("errors")) ?? "" }

    /// Sends a signal; one that has ended already is left alone.
    public func signal(_ number: Int32) {
        if !ending.isFinished { kill(identifier, number) }
    }

    /// Waits until it has ended.
    public func end() async -> CommandResult { await ending.wait() }
}
