/// The group `apus topic`.
enum TopicCommands {
    /// Its commands.
    static let node = CommandNode.group(
        name: "topic",
        summary: "Subscribe devices and users to topics",
        discussion: """
            A topic is a name in an app, for example a chat room: an event 'push.requested' with
            a topic reaches every device that subscribed to it, and every device of a user who
            did.
            """,
        nodes: [
            .command(TopicSubscribeCommand()),
            .command(TopicUnsubscribeCommand()),
            .command(TopicListCommand()),
        ]
    )
}
