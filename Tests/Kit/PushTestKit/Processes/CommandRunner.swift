import Foundation

/// Runs commands as processes of their own and waits for their end.
public enum CommandRunner {
    /// A hang ends after this long.
    private static let deadlineSeconds = 120.0

    /// The `apus` that was built with the tests: it lies beside the program that runs them.
    public static var apusPath: String { path(of: "apus") }

    /// The path of a program that was built with the tests, or with the present program: it lies beside it.
    public static func path(of name: String) -> String {
        let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(fileURLWithPath: program).deletingLastPathComponent().path + "/" + name
    }

    /// The variables of this process, without `APUS_…`.
    static var cleanEnvironment: [String: String] {
        ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("APUS_") }
    }

    /// Runs `apus`.
    ///
    /// - Parameters:
    ///   - arguments: the arguments after the name of the command.
    ///   - input: its standard input.
    ///   - environment: the variables to set; of those that begin with `APUS_` it sees no others.
    ///   - folder: where it runs.
    /// - Returns: its end and its output.
    /// - Throws: an error that says why it cannot be started.
    public static func apus(
        _ arguments: [String], input: String = "", environment: [String: String] = [:], in folder: TemporaryFolder
    ) async throws -> CommandResult {
        try await run(apusPath, arguments, input: input, environment: environment, in: folder)
    }

    /// Runs a command.
    ///
    /// - Parameters:
    ///   - path: the program.
    ///   - arguments: the arguments after its name.
    ///   - input: its standard input.
    ///   - environment: the variables to set; of those that begin with `APUS_` it sees no others.
    ///   - folder: where it runs.
    /// - Returns: its end and its output.
    /// - Throws: an error that says why it cannot be started.
    public static func run(
        _ path: String, _ arguments: [String], input: String = "", environment: [String: String] = [:],
        in folder: TemporaryFolder
    ) async throws -> CommandResult {
        // Files rather than pipes: the command can write without a reader. They lie outside of its folder.
        let files = try TemporaryFolder()
        let streams = SpawnedProcess.Streams(
            input: try files.write("input", input), output: try files.write("output", ""),
            errors: try files.write("errors", ""))
        let process = try SpawnedProcess(
            [path] + arguments, environment: cleanEnvironment.merging(environment) { _, given in given },
            folder: folder.path, streams: streams)
        DispatchQueue.global().asyncAfter(deadline: .now() + deadlineSeconds) { [weak process] in
            process?.signal(SIGKILL)
        }
        return CommandResult(
            exitCode: await process.end(), output: try files.read("output"), errors: try files.read("errors"))
    }
}

/// How a command ended, and what it wrote.
public struct CommandResult: Sendable {
    /// The exit code; 128 and the number of the signal if one ended it.
    public let exitCode: Int32
    /// Its standard output.
    public let output: String
    /// Its standard error.
    public let errors: String
}

/// The Python script that drives the registry's API with boto3, Amazon's own client.
public enum BotoScript {
    /// Runs the script.
    ///
    /// - Parameters:
    ///   - arguments: the endpoint, the scenario, and the scenario's arguments.
    ///   - environment: the variables to set.
    ///   - folder: where it runs.
    /// - Returns: its end and its output.
    /// - Throws: an error that says why it cannot be started.
    public static func run(
        _ arguments: [String], environment: [String: String] = [:], in folder: TemporaryFolder
    ) async throws -> CommandResult {
        // This file lies in Tests/Kit/PushTestKit/Processes.
        let root = #filePath.split(separator: "/").dropLast(5).joined(separator: "/")
        let own = ["AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": "/dev/null", "PYTHONWARNINGS": "ignore"]
        return try await CommandRunner.run(
            "/usr/bin/python3", ["/\(root)/Tests/Adapters/HTTP/RegistryAPITests/Scripts/cognito_sync.py"] + arguments,
            environment: own.merging(environment) { _, given in given }, in: folder)
    }
}
