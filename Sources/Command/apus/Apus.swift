import Glibc

/// The command `apus`: the table of its subcommands.
@main
struct Apus {
    /// All commands, in the order in which the help shows them: add yours here.
    static let commands: [CommandNode] = [
        .command(InitCommand()),
        .command(CheckCommand()),
        .command(DoctorCommand()),
        ConfigCommands.node,
        DeviceCommands.node,
        DatasetCommands.node,
        SubscriptionCommands.node,
        TopicCommands.node,
        .command(SimulateCommand()),
        .command(SimulateFCMCommand()),
        .command(SimulateADMCommand()),
        .command(SimulateWebPushCommand()),
        TopologyCommands.node,
        .command(PublishCommand()),
        .command(LoadCommand()),
        OutcomesCommands.node,
        .command(ExplainCommand()),
        WebhooksCommands.node,
        .command(AnalyticsCommand()),
        RelayCommands.node,
        DeadLettersCommands.node,
        FanOutCommands.node,
        CampaignCommands.node,
        .command(PauseCommand()),
        .command(ResumeCommand()),
        .command(RunCommand()),
        .command(HealthcheckCommand()),
        RegistryCommands.node,
        PageCommands.node,
        .command(TopCommand()),
        .command(PlanCommand()),
        .command(VersionCommand()),
    ]

    /// The commands, and those that speak of them.
    static var allCommands: [CommandNode] { commands + [.command(CompletionCommand()), .command(HelpCommand())] }

    static func main() async {
        // A reader that goes away, as `head` does, is an error of the next write rather than the end of the process.
        signal(SIGPIPE, SIG_IGN)
        await CommandRunner(root: root, output: StandardOutput()).runProcess()
    }

    /// The group that all commands are in.
    static var root: CommandNode {
        .group(
            name: "apus",
            summary: "carries change events from RabbitMQ to devices, through APNs, FCM, ADM and Web Push",
            discussion: """
                To begin: 'apus init' writes a configuration, 'apus topology apply' creates the
                queues, 'apus device add' registers a device, 'apus check --connect' tries
                everything, and 'apus run' starts a worker.
                """,
            nodes: allCommands
        )
    }
}
