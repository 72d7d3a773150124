/// The group `apus topic`.
enum TopicCommands {
    /// Its commands.
    static let node = CommandNode.group(
        name: "topic",
        summary: "Subscribe devices and users to topics",
        discussion: """
            A topic is a name in an app, for example a chat room. An event 'push.requested' with a
            topic reaches every subscribed device, and every device of a subscribed user.
            """,
        nodes: [
            .command(TopicSubscribeCommand()),
            .command(TopicUnsubscribeCommand()),
            .command(TopicListCommand()),
        ]
    )
}
