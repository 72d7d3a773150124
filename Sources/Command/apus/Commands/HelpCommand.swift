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

/// `apus version`.
struct VersionCommand: Command {
    let name = "version"
    let summary = "Print the version"
    let help = CommandHelp(
        discussion: "Prints the version of this program. 'apus --version' is the same.",
        examples: [
            .init("apus version", "Prints for example: apus \(ProductVersion.current)"),
            .init(
                "apus version --json",
                #"Prints for example: {"name":"apus","version":"\#(ProductVersion.current)"}"#
            ),
        ]
    )
    let options: [CommandOption] = [.json]

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        invocation.output.line(
            invocation.isJSON
                ? #"{"name":"apus","version":"\#(ProductVersion.current)"}"# : "apus \(ProductVersion.current)"
        )
        return .ok
    }
}

/// Which Apus this is.
enum ProductVersion {
    /// The version, by the rules of semantic versioning.
    static let current = "0.1.0"
}
