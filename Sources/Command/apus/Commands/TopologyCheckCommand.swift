import ChangeQueue
import Dispatcher

/// `apus topology check`.
struct TopologyCheckCommand: Command {
    let name = "check"
    let summary = "Compare RabbitMQ with the configuration"
    let help = CommandHelp(
        discussion: """
            Reports for every exchange and queue whether it is missing or different, and
            creates nothing. Exits with 78 if one is, and with 75 if the only finding is an
            unneeded work queue, which 'apus topology apply' drains. AMQP cannot tell whether
            the work queue is bound; 'apus topology apply' binds it again in any case. With
            rabbitmq.management_url it also reports policies of RabbitMQ that change the
            queues of Apus.
            """,
        examples: [.init("apus topology check", "Reports the state of each exchange and queue.")],
        exitCodes: [.unavailable, .noPermission, .configuration, .temporaryFailure]
    )
    let options = [CommandOption.json] + CommandOption.configuration

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let configuration = try invocation.loadConfiguration(for: .tool).configuration
        let broker = try invocation.broker(configuration)
        do {
            let findings = try await configuration.topology.check(broker)
            return try await TopologyReport.finish(findings, of: configuration.topology, at: broker, invocation)
        } catch let error as ChangeQueueError { throw CommandFailure(error) }
    }
}
