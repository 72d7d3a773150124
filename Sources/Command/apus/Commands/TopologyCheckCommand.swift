import ChangeQueue
import Dispatcher

/// `apus topology check`.
struct TopologyCheckCommand: Command {
    let name = "check"
    let summary = "Compare RabbitMQ with what the configuration asks for"
    let help = CommandHelp(
        discussion: """
            Looks at every exchange and queue, makes nothing, and says what is missing or
            different. Ends with 78 if anything is, and with 75 if there is only a work queue too
            many, which 'apus topology apply' drains. Whether the work queue is bound to the
            exchange cannot be asked; 'apus topology apply' binds it again in any case. With
            rabbitmq.management_url it also says which policies of RabbitMQ change our queues.
            """,
        examples: [.init("apus topology check", "Says of each object whether it is as it should be.")],
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
