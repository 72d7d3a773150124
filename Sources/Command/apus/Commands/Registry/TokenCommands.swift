/// The group `apus registry token`.
enum TokenCommands {
    /// Its commands.
    static let node = CommandNode.group(
        name: "token",
        summary: "Create, list and remove tokens of the registry's API",
        discussion: """
            A backend sends a token with each request: Authorization: Bearer TOKEN. A token is for
            one app or for all, to read or to write. The registry keeps only its SHA-256, so a lost
            token has to be replaced. These commands may be used while the API is served; changes
            apply from the next request on.
            """,
        nodes: [.command(TokenAddCommand()), .command(TokenListCommand()), .command(TokenRemoveCommand())]
    )
}
