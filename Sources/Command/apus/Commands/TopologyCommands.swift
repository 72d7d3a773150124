/// The group `apus topology`.
enum TopologyCommands {
    /// The group with its commands.
    static let node = CommandNode.group(
        name: "topology",
        summary: "Show, make and check the exchanges and queues in RabbitMQ",
        discussion: """
            A worker makes nothing in RabbitMQ unless it is told to; these commands do. Which
            retry queues there are follows from retry.delays in the configuration, and how many
            work queues from rabbitmq.work_queues.
            """,
        nodes: [
            .command(TopologyPrintCommand()),
            .command(TopologyApplyCommand()),
            .command(TopologyCheckCommand()),
        ]
    )
}
