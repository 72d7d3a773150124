/// The group `apus registry token`.
enum TokenCommands {
    /// Its commands.
    static let node = CommandNode.group(
        name: "token",
        summary: "Make, list and remove the tokens of the registry's API",
        discussion: """
            A backend shows a token with each request: Authorization: Bearer TOKEN. It is for
            one app or for all, to read or to write. The registry keeps only its SHA-256, so
            a token that is lost is made anew. These commands may be used while the API is
            served; what they do counts from the next request on.
            """,
        nodes: [.command(TokenAddCommand()), .command(TokenListCommand()), .command(TokenRemoveCommand())]
    )
}
