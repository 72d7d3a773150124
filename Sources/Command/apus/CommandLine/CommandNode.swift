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
