import Dispatcher
import Glibc

/// `apus init`.
struct InitCommand: Command {
    private static let force = CommandOption.flag("force", letter: "f", "Overwrite an existing file.")
    private static let toStandardOutput = CommandOption.flag(
        "stdout",
        "Print the configuration instead of writing a file."
    )

    let name = "init"
    let summary = "Write a commented sample configuration"
    let help = CommandHelp(
        discussion: """
            Writes a configuration with the description, the values and the default of every
            key. Edit the app's name, bundle identifier, key file, key identifier and team,
            then run 'apus check'.

            Only you can read the file, because it may hold the broker's password. An existing
            file is kept unless --force is given.
            """,
        examples: [
            .init("apus init", "Writes apus.toml in this folder."),
            .init("apus init /etc/apus/apus.toml", "Writes the file to this path."),
            .init("apus init --stdout | less", "Only shows the sample."),
        ],
        exitCodes: [.cannotCreate]
    )
    let options = [force, toStandardOutput]
    let operands = Operands.optional("FILE")

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        if invocation.has(Self.toStandardOutput) {
            invocation.output.write(SampleConfiguration.text)
            return .ok
        }
        let path = invocation.operands.first ?? "apus.toml"
        try write(SampleConfiguration.text, to: path, overwriting: invocation.has(Self.force))
        StandardError.line("wrote \(path); edit it, then run 'apus check --config \(path)'")
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
