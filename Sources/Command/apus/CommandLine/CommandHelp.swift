/// The parts of a command's help that it has to write itself; the rest comes from its options and operands.
struct CommandHelp: Sendable {
    /// One line of an example, and what it does.
    struct Example: Sendable {
        /// What is typed.
        let line: String
        /// What it does.
        let explanation: String

        /// Creates an example.
        init(_ line: String, _ explanation: String) {
            self.line = line
            self.explanation = explanation
        }
    }

    /// An environment variable that the command heeds.
    struct Variable: Sendable {
        /// The name.
        let name: String
        /// What it does.
        let explanation: String

        /// Creates a variable.
        init(_ name: String, _ explanation: String) {
            self.name = name
            self.explanation = explanation
        }
    }

    /// What the command does, in paragraphs of lines of at most 80 columns.
    var discussion: String
    /// At least one for each common use.
    var examples: [Example] = []
    /// What it reads from the environment, beside the configuration.
    var environment: [Variable] = []
    /// The codes that it ends with, beside 0, 64 and 70.
    var exitCodes: [ExitCode] = []
}
