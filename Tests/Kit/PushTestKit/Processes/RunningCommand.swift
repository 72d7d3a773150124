import Glibc

/// A command that runs until a test ends it.
public final class RunningCommand: Sendable {
    /// The process identifier.
    public var identifier: Int32 { process.identifier }
    private let files: TemporaryFolder
    /// Held, so that it is there for as long as the command runs.
    private let folder: TemporaryFolder?
    private let process: SpawnedProcess

    /// Starts `apus`.
    ///
    /// - Parameters:
    ///   - arguments: the arguments after the name of the command.
    ///   - environment: the variables to set; of those that begin with `APUS_` it sees no others.
    ///   - folder: where it runs.
    /// - Throws: an error that says why it cannot be started.
    public convenience init(
        _ arguments: [String], environment: [String: String] = [:], in folder: TemporaryFolder
    ) throws {
        try self.init(program: CommandRunner.apusPath, arguments, environment: environment, in: folder)
    }

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - path: the program.
    ///   - arguments: the arguments after its name.
    ///   - environment: the variables to set; of those that begin with `APUS_` it sees no others.
    ///   - folder: where it runs.
    /// - Throws: an error that says why it cannot be started.
    public convenience init(
        program path: String, _ arguments: [String], environment: [String: String] = [:], in folder: TemporaryFolder
    ) throws {
        try self.init(path, arguments, environment, folder.path, folder)
    }

    /// Starts a program in a folder that stays.
    ///
    /// - Parameters:
    ///   - path: the program.
    ///   - arguments: the arguments after its name.
    ///   - environment: the variables to set; of those that begin with `APUS_` it sees no others.
    ///   - workingFolder: the path of the folder where it runs.
    /// - Throws: an error that says why it cannot be started.
    public convenience init(
        program path: String, _ arguments: [String], environment: [String: String] = [:], workingFolder: String
    ) throws {
        try self.init(path, arguments, environment, workingFolder, nil)
    }

    private init(
        _ path: String, _ arguments: [String], _ environment: [String: String], _ workingFolder: String,
        _ folder: TemporaryFolder?
    ) throws {
        self.folder = folder
        let files = try TemporaryFolder()
        let streams = SpawnedProcess.Streams(
            input: "/dev/null", output: try files.write("output", ""), errors: try files.write("errors", ""))
        process = try SpawnedProcess(
            [path] + arguments,
            environment: CommandRunner.cleanEnvironment.merging(environment) { _, given in given },
            folder: workingFolder, streams: streams)
        self.files = files
    }

    deinit { signal(SIGKILL) }

    /// Whether it has ended by now.
    public var hasEnded: Bool { process.hasEnded }

    /// Its exit code, or 128 and the number of the signal that ended it; nil while it runs.
    public var exitCode: Int32? { process.exitCode }

    /// The standard output so far.
    public var output: String { (try? files.read("output")) ?? "" }

    /// The standard error so far.
    public var errors: String { (try? files.read("errors")) ?? "" }

    /// Waits until it has written a text.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - stream: where it is looked for.
    /// - Throws: `DeadlineExceeded`, and `PrivateServerFailure` if the command has ended without it.
    public func wait(for text: String, in stream: KeyPath<RunningCommand, String> = \.errors) async throws {
        try await eventually("'\(text)' of process \(identifier)") {
            // Before its output is read, which is whole then.
            let hasEnded = hasEnded
            let written = self[keyPath: stream]
            guard !hasEnded || written.contains(text) else {
                throw PrivateServerFailure("process \(identifier) ended without '\(text)': \(output)\(errors)")
            }
            return written
        } until: {
            $0.contains(text)
        }
    }

    /// Sends a signal; one that has ended already is left alone.
    public func signal(_ number: Int32) { process.signal(number) }

    /// Asks it to end in order (SIGTERM), and waits until it has.
    ///
    /// - Parameter seconds: after this long it is killed.
    /// - Returns: its end and its output.
    @discardableResult
    public func stop(seconds: Double = 10) async -> CommandResult {
        signal(SIGTERM)
        let killer = Task {
            try await Pause.seconds(seconds)
            signal(SIGKILL)
        }
        defer { killer.cancel() }
        return await end()
    }

    /// Waits until it has ended.
    public func end() async -> CommandResult {
        let exitCode = await process.end()
        return CommandResult(exitCode: exitCode, output: output, errors: errors)
    }
}
