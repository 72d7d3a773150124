/// The group `apus subscription`.
enum SubscriptionCommands {
    /// Its commands.
    static let node = CommandNode.group(
        name: "subscription",
        summary: "Subscribe users and devices to changes of records, by a condition on their fields",
        discussion: """
            When a record is created, updated or deleted, every device with a matching subscription
            gets a push, except the device that made the change.
            """,
        nodes: [
            .command(SubscriptionSaveCommand()),
            .command(SubscriptionListCommand()),
            .command(SubscriptionShowCommand()),
            .command(SubscriptionDeleteCommand()),
            .command(SubscriptionTestCommand()),
        ]
    )
}
