import Essentials

/// The parts of a command's help that it has to write itself; the rest comes from its options and operands.
struct CommandHelp: Sendable {
    /// One line of an example, and its effect.
    struct Example: Sendable {
        /// The line to type.
        let line: String
        /// Its effect.
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
        /// Its effect.
        let explanation: String

        /// Creates a variable.
        init(_ name: String, _ explanation: String) {
            self.name = name
            self.explanation = explanation
        }
    }

    /// The effect of the command, in paragraphs of lines of at most 80 columns.
    var discussion: String
    /// At least one for each common use.
    var examples: [Example] = []
    /// The environment variables that it reads, beside the configuration.
    var environment: [Variable] = []
    /// The codes that it ends with, beside 0, 64 and 70.
    var exitCodes: [ExitCode] = []

    /// All codes that it ends with, in ascending order.
    var allExitCodes: [ExitCode] {
        Set(exitCodes + [.ok, .usage, .software]).sorted { $0.rawValue < $1.rawValue }
    }

    /// All variables that a command heeds: its own, and those of the configuration if it loads one.
    func environment(of command: any Command) -> [Variable] {
        guard command.options.contains(where: { $0.name == CommandOption.config.name }) else { return environment }
        return environment + [
            Variable("APUS_CONFIG", "The configuration file, where --config is not given."),
            Variable(
                "APUS_<SECTION>_<KEY>",
                "Any configuration key, for example APUS_RABBITMQ_URL; see 'apus config --help'."),
        ]
    }
}

/// Lays out the help of a command or of a group of commands.
enum HelpText {
    /// The whole help, ending in a new line.
    static func text(of node: CommandNode, path: [String]) -> String {
        switch node {
        case .command(let command): text(of: command, nodes: [], path: path)
        case .parent(let command, let nodes): text(of: command, nodes: nodes, path: path)
        case .group(_, let summary, let discussion, let nodes):
            text(summary: summary, discussion: discussion, nodes: nodes, path: path)
        }
    }

    private static func text(
        summary: String,
        discussion: String,
        nodes: [CommandNode],
        path: [String]
    ) -> String {
        let words = path.joined(separator: " ")
        var text = "\(words): \(summary)\n\nUsage:\n  \(words) COMMAND [OPTION]...\n"
        if !discussion.isEmpty { text += "\n\(discussion)\n" }
        text += "\nCommands:\n" + table(nodes.map { ($0.name, $0.summary) })
        text += "\nOptions:\n" + table([("-h, --help", "Show this help, or that of any command.")])
        text += "\nEach command has its own help: \(words) COMMAND --help\n"
        return text
    }

    private static func text(of command: any Command, nodes: [CommandNode], path: [String]) -> String {
        let words = path.joined(separator: " ")
        let required = command.options.filter(\.isRequired).map { " --\($0.name) \($0.valueName ?? "")" }.joined()
        let operands = command.operands.usage.isEmpty ? "" : " \(command.operands.usage)"
        var text = "\(words): \(command.summary)\n\nUsage:\n  \(words)\(required) [OPTION]...\(operands)\n"
        let help = command.help
        if !help.discussion.isEmpty { text += "\n\(help.discussion)\n" }
        if !nodes.isEmpty { text += "\nCommands:\n" + table(nodes.map { ($0.name, $0.summary) }) }
        text += "\nOptions:\n" + table((command.options + [.help]).map { (label(of: $0), $0.summary) })
        if !help.examples.isEmpty {
            text += "\nExamples:\n"
            for example in help.examples { text += "  \(example.line)\n      \(example.explanation)\n" }
        }
        let environment = help.environment(of: command).map { ($0.name, $0.explanation) }
        if !environment.isEmpty { text += "\nEnvironment:\n" + table(environment) }
        text += "\nExit codes:\n" + table(help.allExitCodes.map { ("\($0.rawValue)", $0.meaning) })
        return text
    }

    private static func label(of option: CommandOption) -> String {
        let letter = option.letter.map { "-\($0), " } ?? "    "
        return "\(letter)--\(option.name)" + (option.valueName.map { " \($0)" } ?? "")
    }

    /// Two columns; a label that is too long for the first has its text on the next line.
    private static func table(_ rows: [(label: String, text: String)]) -> String {
        let columnWidthMaximum = 30
        let width = min(columnWidthMaximum, rows.map(\.label.count).max() ?? 0)
        var text = ""
        for row in rows {
            let indent = String(repeating: " ", count: width + 4)
            let label = "  " + row.label
            let lines = row.text.wrapped(columns: 100 - indent.count)
            let start =
                row.label.count <= width
                ? label + String(repeating: " ", count: indent.count - label.count) : label + "\n" + indent
            text += start + lines.joined(separator: "\n" + indent) + "\n"
        }
        return text
    }
}
