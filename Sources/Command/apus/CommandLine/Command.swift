/// One thing that the user can ask for, for example `apus device add`.
///
/// The runner parses the options, answers `--help`, and turns what `run` throws into a line on standard error and an
/// exit code. To add a command: write a type, and put it into the table in `Apus.swift`.
protocol Command: Sendable {
    /// The last word of the command, for example `add`.
    var name: String { get }
    /// The effect, in one line without a full stop.
    var summary: String { get }
    /// Everything else that a newcomer has to know.
    var help: CommandHelp { get }
    /// The options, in the order in which the help shows them; `--help` is added.
    var options: [CommandOption] { get }
    /// The operands that the command takes.
    var operands: Operands { get }

    /// Does it.
    ///
    /// - Parameter invocation: the options and operands, already checked against what the command declares.
    /// - Returns: how it ended.
    /// - Throws: `CommandFailure` for the user's errors and the environment's; any other error counts as a fault in
    ///   Apus.
    func run(_ invocation: CommandInvocation) async throws -> ExitCode
}

extension Command {
    var operands: Operands { .none }
}

/// A node of the tree of commands.
indirect enum CommandNode: Sendable {
    /// A leaf: something that can be run.
    case command(any Command)
    /// A word that only leads to other words, for example `device`.
    case group(name: String, summary: String, discussion: String, nodes: [CommandNode])
    /// A command with subcommands: its word is followed by a subcommand's word, or by its own options.
    case parent(any Command, nodes: [CommandNode])

    /// The word that leads here.
    var name: String {
        switch self {
        case .command(let command), .parent(let command, _): command.name
        case .group(let name, _, _, _): name
        }
    }

    /// The summary, in one line.
    var summary: String {
        switch self {
        case .command(let command), .parent(let command, _): command.summary
        case .group(_, let summary, _, _): summary
        }
    }

    /// The nodes that may follow its word; empty for a leaf.
    var nodes: [CommandNode] {
        switch self {
        case .command: []
        case .group(_, _, _, let nodes), .parent(_, let nodes): nodes
        }
    }
}
