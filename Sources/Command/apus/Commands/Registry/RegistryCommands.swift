/// `apus registry` and the commands below it.
enum RegistryCommands {
    /// The command and its own commands.
    static let node = CommandNode.parent(
        RegistryCommand(), nodes: [TokenCommands.node, .command(RegistryCopyCommand())])
}
