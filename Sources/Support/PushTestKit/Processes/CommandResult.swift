/// How a command ended, and what it wrote.
public struct CommandResult: Sendable {
    /// The exit code; 128 and the number of the signal if one ended it.
    public let exitCode: Int32
    /// What it wrote to standard output.
    public let output: String
    /// What it wrote to standard error.
    public let errors: String
}
