/// `apus help COMMAND`, the same as `apus COMMAND --help`.
struct HelpCommand: Command {
    /// The commands that help can be asked for.
    let nodes: [CommandNode]

    let name = "help"
    let summary = "Show the help of a command"
    let help = CommandHelp(
        discussion: "Is the same as 'apus COMMAND --help'.",
        examples: [.init("apus help device add", "Shows the help of 'apus device add'.")]
    )
    let options: [CommandOption] = []
    let operands = Operands.any("COMMAND")

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        var node = Apus.root(nodes + [.command(self)])
        var path = [node.name]
        for word in invocation.operands {
            guard let next = node.nodes.first(where: { $0.name == word }) else {
                throw CommandFailure.usage("there is no command '\((path + [word]).joined(separator: " "))'")
            }
            node = next
            path.append(word)
        }
        invocation.output.write(HelpText.text(of: node, path: path))
        return .ok
    }
}
