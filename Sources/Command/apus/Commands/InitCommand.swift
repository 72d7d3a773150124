import Dispatcher
import Glibc

/// `apus init`.
struct InitCommand: Command {
    private static let force = CommandOption.flag("force", letter: "f", "Overwrite the file if it is there.")
    private static let toStandardOutput = CommandOption.flag(
        "stdout",
        "Print the configuration instead of writing a file."
    )

    let name = "init"
    let summary = "Write a commented sample configuration"
    let help = CommandHelp(
        discussion: """
            Writes a configuration in which every key stands with its meaning, its range and
            its default. Edit the app's name, bundle identifier, key file, key identifier and
            team, then run 'apus check'.

            The file is readable by you only, because the broker's password will be in it.
            An existing file is left alone unless --force is given.
            """,
        examples: [
            .init("apus init", "Writes apus.toml in this folder."),
            .init("apus init /etc/apus/apus.toml", "Writes the file there."),
            .init("apus init --stdout | less", "Only shows it."),
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
        StandardError.line("wrote \(path); now edit it, then run 'apus check --config \(path)'")
        return .ok
    }

    private func write(_ text: String, to path: String, overwriting: Bool) throws(CommandFailure) {
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (overwriting ? O_TRUNC : O_EXCL)
        let descriptor = open(path, flags, 0o600)
        guard descriptor >= 0 else {
            if errno == EEXIST {
                throw CommandFailure(
                    .cannotCreate,
                    "\(path) exists already; give another name, or --force to overwrite it"
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
