/// A node of the tree of commands.
indirect enum CommandNode: Sendable {
    /// A leaf: something that can be run.
    case command(any Command)
    /// A word that only leads to other words, for example `device`.
    case group(name: String, summary: String, discussion: String, nodes: [CommandNode])

    /// The word that leads here.
    var name: String {
        switch self {
        case .command(let command): command.name
        case .group(let name, _, _, _): name
        }
    }

    /// What is behind it, in one line.
    var summary: String {
        switch self {
        case .command(let command): command.summary
        case .group(_, let summary, _, _): summary
        }
    }
}
