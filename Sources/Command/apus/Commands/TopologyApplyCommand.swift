import ChangeQueue
import Dispatcher

/// `apus topology apply`.
struct TopologyApplyCommand: Command {
    private static let wait = CommandOption.value(
        "wait", "SECONDS",
        "How long to wait for workers to empty queues that are too many, 0 to 3600. A queue is deleted when it has "
            + "been found empty twice, a second apart, and proves it, so 0 deletes none. Default: 15.")

    let name = "apply"
    let summary = "Make the exchanges and queues that are missing in RabbitMQ"
    let help = CommandHelp(
        discussion: """
            Makes what is missing and changes nothing that is there, so it can be run at every
            deployment. RabbitMQ cannot change an existing queue: one that differs is reported,
            with what is there and what is wanted, and the command ends with 78.

            When rabbitmq.work_queues has changed: run it, restart the workers, run it again.
            Nothing pauses and nothing is lost meanwhile. The first run makes new queues, or
            takes away the events of those that are too many; the second gives new queues their
            share, or deletes what the workers have emptied. A queue that holds a message is
            never deleted. With rabbitmq.management_url it ends with 78, too, where a policy of
            RabbitMQ would lose messages of ours. While something is left to do, the command says what and ends with 75.
            """,
        examples: [
            .init("apus topology apply", "Makes what is missing, and says what it did."),
            .init("apus topology apply --set rabbitmq.namespace=staging", "In another namespace."),
        ],
        exitCodes: [.unavailable, .noPermission, .configuration, .temporaryFailure]
    )
    let options = [CommandOption.json, wait] + CommandOption.configuration

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
                findings += try await topology.deleteSurplus(of: broker, waitingSeconds: waitingSeconds)
            }
            return try await TopologyReport.finish(findings, of: topology, at: broker, invocation)
        } catch let error as ChangeQueueError { throw CommandFailure(error) }
    }
}
