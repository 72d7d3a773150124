/// One thing that the user can ask for, for example `apus device add`.
///
/// The runner parses the options, answers `--help`, and turns what `run` throws into a line on standard error and an
/// exit code. To add a command: write a type, and put it into the table in `Apus.swift`.
protocol Command: Sendable {
    /// The last word of the command, for example `add`.
    var name: String { get }
    /// What it does, in one line without a full stop at the end of it.
    var summary: String { get }
    /// Everything else that a newcomer has to know.
    var help: CommandHelp { get }
    /// The options, in the order in which the help shows them; `--help` is added.
    var options: [CommandOption] { get }
    /// What it takes beside the options.
    var operands: Operands { get }

    /// Does it.
    ///
    /// - Parameter invocation: the options and operands, already checked against what the command declares.
    /// - Returns: how it ended.
    /// - Throws: `CommandFailure` for whatever the user has to hear; anything else counts as a fault in Apus.
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
    /// A command that has others below it: what follows its word is one of theirs, or its own options.
    case parent(any Command, nodes: [CommandNode])

    /// The word that leads here.
    var name: String {
        switch self {
        case .command(let command), .parent(let command, _): command.name
        case .group(let name, _, _, _): name
        }
    }

    /// What is behind it, in one line.
    var summary: String {
        switch self {
        case .command(let command), .parent(let command, _): command.summary
        case .group(_, let summary, _, _): summary
        }
    }

    /// What may follow its word; empty for a leaf.
    var nodes: [CommandNode] {
        switch self {
        case .command: []
        case .group(_, _, _, let nodes), .parent(_, let nodes): nodes
        }
    }
}
