/// Why a command cannot go on: thrown by commands, printed by the runner as one line, and turned into an exit code.
struct CommandFailure: Error, CustomStringConvertible, Sendable {
    /// The code with which the process ends.
    let code: ExitCode
    /// What was wrong, where, and what to do; several lines are allowed, a secret never.
    let message: String

    /// Creates a failure.
    init(_ code: ExitCode, _ message: String) {
        self.code = code
        self.message = message
    }

    /// A command line that cannot be understood; the runner adds where to find the help.
    static func usage(_ message: String) -> CommandFailure { CommandFailure(.usage, message) }

    /// The message.
    var description: String { message }
}
