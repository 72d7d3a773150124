import Glibc
import WorkerConfiguration

/// `apus init`.
struct InitCommand: Command {
    private static let force = CommandOption.flag("force", letter: "f", "Overwrite an existing file.")
    private static let toStandardOutput = CommandOption.flag(
        "stdout",
        "Print the configuration instead of writing a file."
    )
    private static let local = CommandOption.flag(
        "local", "Make a set-up for this machine that runs as it is: keys, a registry, and the simulator for APNs.")

    let name = "init"
    let summary = "Write a commented sample configuration"
    let help = CommandHelp(
        discussion: """
            Writes a configuration with the description, the values and the default of every
            key. Edit the app's name, bundle identifier, key file, key identifier and team,
            then run 'apus check'.

            Only you can read the file, because it may hold the broker's password. An existing
            file is kept unless --force is given.

            With --local nothing is left to edit. The app's pushes go to 'apus simulate', the
            worker creates its queues and serves the registry's API at 127.0.0.1:8080, and these
            files are made beside the configuration, unless they are there: a signing key, an
            access key of the API, and an empty registry.
            """,
        examples: [
            .init("apus init --local", "Makes a set-up in this folder, and says how to start it."),
            .init("apus init", "Writes apus.toml in this folder."),
            .init("apus init /etc/apus/apus.toml", "Writes the file to this path."),
            .init("apus init --stdout | less", "Only shows the sample."),
        ],
        exitCodes: [.cannotCreate]
    )
    let options = [local, force, toStandardOutput]
    let operands = Operands.optional("FILE")

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let isLocal = invocation.has(Self.local)
        let text = isLocal ? LocalSetUp.configuration : SampleConfiguration.text
        if invocation.has(Self.toStandardOutput) {
            invocation.output.write(text)
            return .ok
        }
        let path = invocation.operands.first ?? "apus.toml"
        try write(text, to: path, overwriting: invocation.has(Self.force))
        if isLocal {
            let files = try LocalSetUp(configurationFile: path).makeFiles()
            StandardError.line("wrote \(([path] + files).joined(separator: ", "))\n\(LocalSetUp.advice)")
        } else {
            StandardError.line("wrote \(path); edit it, then run 'apus check --config \(path)'")
        }
        return .ok
    }

    private func write(_ text: String, to path: String, overwriting: Bool) throws(CommandFailure) {
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (overwriting ? O_TRUNC : O_EXCL)
        let descriptor = open(path, flags, 0o600)
        guard descriptor >= 0 else {
            if errno == EEXIST {
                throw CommandFailure(
                    .cannotCreate,
                    "\(path) already exists; give another name, or --force to overwrite it"
                )
            }
            throw CommandFailure(.cannotCreate, "cannot write \(path): \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        let file = StandardOutput(descriptor: descriptor)
        file.write(text)
        if let problem = file.finish() { throw CommandFailure(.inputOutput, "cannot write \(path): \(problem)") }
    }
}
