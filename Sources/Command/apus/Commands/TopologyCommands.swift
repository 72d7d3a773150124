/// The group `apus topology`.
enum TopologyCommands {
    /// The group with its commands.
    static let node = CommandNode.group(
        name: "topology",
        summary: "Print, create and check the exchanges and queues in RabbitMQ",
        discussion: """
            A worker creates nothing in RabbitMQ unless worker.declare_topology is set; these
            commands do. The retry queues follow from retry.delays, the number of work queues
            from rabbitmq.work_queues.
            """,
        nodes: [
            .command(TopologyPrintCommand()),
            .command(TopologyApplyCommand()),
            .command(TopologyCheckCommand()),
        ]
    )
}
