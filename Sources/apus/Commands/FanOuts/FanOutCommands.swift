/// The group `apus fanout`.
enum FanOutCommands {
    /// Its commands.
    static let node = CommandNode.group(
        name: "fanout",
        summary: "List, show and cancel large fan-outs",
        discussion: """
            An event that reaches more devices than 'fanout.threshold_devices' is split into
            chunks, which all workers serve. The registry knows how far each is.
            """,
        nodes: [
            .command(FanOutListCommand()),
            .command(FanOutShowCommand()),
            .command(FanOutCancelCommand()),
        ]
    )
}
