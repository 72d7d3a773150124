import Foundation

/// Runs commands as processes of their own and waits for their end.
public enum CommandRunner {
    /// A hang ends after this long.
    private static let deadlineSeconds = 120.0

    /// The `apus` that was built with the tests: it lies beside the program that runs them.
    public static var apusPath: String {
        let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(fileURLWithPath: program).deletingLastPathComponent().path + "/apus"
    }

    /// Runs `apus`.
    ///
    /// - Parameters:
    ///   - arguments: what follows the name of the command.
    ///   - input: what it reads from standard input.
    ///   - environment: the variables to set; of those that begin with `APUS_` it sees no others.
    ///   - folder: where it runs.
    /// - Returns: its end and its output.
    /// - Throws: an error of Foundation if it cannot be started.
    public static func apus(
        _ arguments: [String], input: String = "", environment: [String: String] = [:], in folder: TemporaryFolder
    ) async throws -> CommandResult {
        try await run(apusPath, arguments, input: input, environment: environment, in: folder)
    }

    /// Runs a command.
    ///
    /// - Parameters:
    ///   - path: the program.
    ///   - arguments: what follows its name.
    ///   - input: what it reads from standard input.
    ///   - environment: the variables to set; of those that begin with `APUS_` it sees no others.
    ///   - folder: where it runs.
    /// - Returns: its end and its output.
    /// - Throws: an error of Foundation if it cannot be started.
    public static func run(
        _ path: String, _ arguments: [String], input: String = "", environment: [String: String] = [:],
        in folder: TemporaryFolder
    ) async throws -> CommandResult {
        // Files rather than pipes: nobody has to read while the command writes. They lie outside of its folder.
        let files = try TemporaryFolder()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
        let inherited = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("APUS_") }
        process.environment = inherited.merging(environment) { _, given in given }
        process.standardInput = FileHandle(forReadingAtPath: try files.write("input", input))
        process.standardOutput = FileHandle(forWritingAtPath: try files.write("output", ""))
        process.standardError = FileHandle(forWritingAtPath: try files.write("errors", ""))
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in continuation.resume() }
            do {
                try process.run()
            } catch {
                process.terminationHandler = nil
                continuation.resume(throwing: error)
                return
            }
            let identifier = process.processIdentifier
            DispatchQueue.global().asyncAfter(deadline: .now() + deadlineSeconds) { [weak process] in
                if process?.isRunning == true { kill(identifier, SIGKILL) }
            }
        }
        let isSignal = process.terminationReason == .uncaughtSignal
        return CommandResult(
            exitCode: (isSignal ? 128 : 0) + process.terminationStatus, output: try files.read("output"),
            errors: try files.read("errors"))
    }
}
