/// The group `apus dataset`.
enum DatasetCommands {
    /// Its commands.
    static let node = CommandNode.group(
        name: "dataset",
        summary: "Subscribe devices to the datasets of their identities",
        discussion: """
            A dataset belongs to an identity, and so may a device. When a dataset changes, every
            subscribed device of the identity gets a silent push, except the device that made the
            change.
            """,
        nodes: [
            .command(DatasetSubscribeCommand()),
            .command(DatasetUnsubscribeCommand()),
            .command(DatasetSubscribeAllCommand()),
            .command(DatasetListCommand()),
        ]
    )
}
