import ChangeQueue
import Dispatcher
import WorkerConfiguration

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
            .command(TopologyPermissionsCommand()),
        ]
    )
}

/// `apus topology print`.
struct TopologyPrintCommand: Command {
    let name = "print"
    let summary = "Print the exchanges and queues of the configuration"
    let help = CommandHelp(
        discussion: """
            Prints every exchange and queue with its arguments and bindings, without
            connecting to RabbitMQ, for tools such as definitions or Terraform.
            """,
        examples: [
            .init("apus topology print", "Prints them for people."),
            .init("apus topology print --json", "Prints them for programs."),
        ],
        exitCodes: [.configuration]
    )
    let options = [CommandOption.json] + CommandOption.configuration

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let objects = try invocation.loadConfiguration(for: .tool).configuration.topology.objects
        invocation.show(
            json: objects.map(TopologyReport.report).json, lines: objects.flatMap(TopologyReport.lines))
        return .ok
    }
}

/// `apus topology apply`.
struct TopologyApplyCommand: Command {
    private static let wait = CommandOption.value(
        "wait", "SECONDS",
        "How long to wait until workers have emptied unneeded queues, 0 to 3600. A queue is deleted after it was empty "
            + "twice, a second apart, so 0 deletes none. Default: 15.")
    private static let deletesUnusedRetries = CommandOption.flag(
        "delete-unused-retries",
        "Delete empty retry queues of steps that retry.delays does not have any more. Only when every worker has been "
            + "restarted with it: an older one still publishes to them.")

    let name = "apply"
    let summary = "Create missing exchanges and queues in RabbitMQ"
    let help = CommandHelp(
        discussion: """
            Creates missing exchanges and queues and changes nothing else, so it is safe in
            every deployment. RabbitMQ cannot change an existing queue: a queue that differs
            is reported, and the exit code is 78.

            After a change of rabbitmq.work_queues: run it, restart the workers, run it again.
            Nothing pauses and nothing is lost meanwhile. The first run creates new queues, or
            unbinds queues that are no longer needed. The second run binds new queues, or
            deletes queues that the workers have emptied. A queue with messages is never
            deleted. While work is left, the command lists it and exits with 75.

            After a change of retry.delays it names the queues of former steps, without a
            consequence for the exit code. With rabbitmq.management_url it finds all of them,
            without it those of the default steps and of round delays.

            With rabbitmq.management_url it also exits with 78 if a policy of RabbitMQ would
            lose messages of Apus.
            """,
        examples: [
            .init("apus topology apply", "Creates what is missing, and reports it."),
            .init("apus topology apply --delete-unused-retries", "Also deletes former steps, when no worker has them."),
            .init("apus topology apply --set rabbitmq.namespace=staging", "Does so in another namespace."),
        ],
        exitCodes: [.unavailable, .noPermission, .configuration, .temporaryFailure]
    )
    let options = [CommandOption.json, wait, deletesUnusedRetries] + CommandOption.configuration

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let waitingSeconds = Double(try invocation.integer(Self.wait, in: 0...3_600) ?? 15)
        let configuration = try invocation.loadConfiguration(for: .tool).configuration
        let topology = configuration.topology
        let broker = try invocation.broker(configuration)
        do {
            var findings = try await topology.apply(to: broker)
            let isUsable = !findings.contains { !$0.isGood && !$0.isPending }
            if isUsable, findings.count > topology.objects.count {
                findings.removeLast(findings.count - topology.objects.count)
                findings += try await topology.deleteRetired(of: broker, waitingSeconds: waitingSeconds)
            }
            let unused = try await topology.unusedRetries(at: broker)
            let deletes = isUsable && invocation.has(Self.deletesUnusedRetries)
            findings += deletes ? await topology.delete(unused, at: broker) : unused
            return try await TopologyReport.finish(findings, of: topology, at: broker, invocation)
        } catch let error as ChangeQueueError { throw CommandFailure(error) }
    }
}

/// `apus topology check`.
struct TopologyCheckCommand: Command {
    let name = "check"
    let summary = "Compare RabbitMQ with the configuration"
    let help = CommandHelp(
        discussion: """
            Reports for every exchange and queue whether it is missing or different, and
            creates nothing. Exits with 78 if one is, and with 75 if the only finding is an
            unneeded work queue, which 'apus topology apply' drains. It also names retry queues
            of steps that retry.delays does not have any more. AMQP cannot tell whether
            the work queue is bound; 'apus topology apply' binds it again in any case. With
            rabbitmq.management_url it also reports policies of RabbitMQ that change the
            queues of Apus. It exits with 77 if the user may not configure a queue: RabbitMQ
            then does not compare its arguments.
            """,
        examples: [.init("apus topology check", "Reports the state of each exchange and queue.")],
        exitCodes: [.unavailable, .noPermission, .configuration, .temporaryFailure]
    )
    let options = [CommandOption.json] + CommandOption.configuration

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let configuration = try invocation.loadConfiguration(for: .tool).configuration
        let broker = try invocation.broker(configuration)
        do {
            let findings =
                try await configuration.topology.check(broker) + configuration.topology.unusedRetries(at: broker)
            return try await TopologyReport.finish(findings, of: configuration.topology, at: broker, invocation)
        } catch let error as ChangeQueueError { throw CommandFailure(error) }
    }
}
