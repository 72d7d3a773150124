/// One place in the tree of commands, as the scripts of the shells need it.
struct CompletionEntry {
    /// The words that lead here, for example `apus device add`.
    let words: String
    /// The words that may follow, each with its summary.
    let next: [(name: String, summary: String)]
    /// The options, `--help` among them.
    let options: [CommandOption]
    /// The operands, as the usage line shows them; empty if there are none.
    let operands: String
    /// Whether the operands are files.
    let takesFiles: Bool

    /// The places of a tree: each command and each group, a group before what is in it.
    static func all(of root: CommandNode) -> [CompletionEntry] { all(of: root, words: root.name) }

    private static func all(of node: CommandNode, words: String) -> [CompletionEntry] {
        let command: (any Command)? =
            switch node {
            case .command(let command), .parent(let command, _): command
            case .group: nil
            }
        let operands = command?.operands.usage ?? ""
        let entry = CompletionEntry(
            words: words, next: node.nodes.map { ($0.name, $0.summary) }, options: (command?.options ?? []) + [.help],
            operands: operands, takesFiles: operands.contains("FILE"))
        return [entry] + node.nodes.flatMap { all(of: $0, words: "\(words) \($0.name)") }
    }
}

extension CommandOption {
    /// The forms in which it is typed: `--config`, and `-c` if it has a letter.
    var forms: [String] { ["--\(name)"] + (letter.map { ["-\($0)"] } ?? []) }
    /// Whether its value is the name of a file.
    var takesFile: Bool { valueName == "FILE" }
}
