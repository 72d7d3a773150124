import WorkerConfiguration

/// The group `apus config`: its help lists the keys of the configuration.
enum ConfigCommands {
    /// The group with its commands.
    static let node = CommandNode.group(
        name: "config",
        summary: "Describe the keys of the configuration",
        discussion: """
            The configuration is one TOML file. 'apus init' writes a sample, 'apus check' finds
            mistakes, and 'apus check --values' shows the values in force.

            The value of a key comes from the first of: --set KEY=VALUE, the environment, the
            file, the default. The variable of rabbitmq.prefetch is APUS_RABBITMQ_PREFETCH. The
            keys of the first app are app.0.name and APUS_APP_0_NAME, and so on.

            Keys:
            \(ConfigurationDocument.list)
            """,
        nodes: [.command(ConfigDocumentCommand())]
    )
}

/// `apus config document`.
struct ConfigDocumentCommand: Command {
    let name = "document"
    let summary = "Print the reference of all keys as Markdown"
    let help = CommandHelp(
        discussion: """
            Prints every key with its default, its values and its meaning. The document
            deploy/configuration.md of the repository is this output.
            """,
        examples: [
            .init("apus config document | less", "Shows the reference."),
            .init("apus config document > deploy/configuration.md", "Renews the document after a change of the keys."),
        ]
    )
    let options: [CommandOption] = []

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        invocation.output.write(ConfigurationDocument.markdown)
        return .ok
    }
}
