import ChangeQueue
import Dispatcher

/// `apus topology apply`.
struct TopologyApplyCommand: Command {
    let name = "apply"
    let summary = "Make the exchanges and queues that are missing in RabbitMQ"
    let help = CommandHelp(
        discussion: """
            Makes what is missing and changes nothing that is there, so it can be run at every
            deployment. RabbitMQ cannot change an existing queue: one that differs is reported,
            with what is there and what is wanted, and the command ends with 78.
            """,
        examples: [
            .init("apus topology apply", "Makes what is missing, and says what it did."),
            .init("apus topology apply --set rabbitmq.namespace=staging", "In another namespace."),
        ],
        exitCodes: [.unavailable, .noPermission, .configuration]
    )
    let options = [CommandOption.json] + CommandOption.configuration

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let configuration = try invocation.loadConfiguration(for: .tool).configuration
        let broker = try invocation.broker(configuration)
        do {
            return TopologyReport.finish(try await invocation.topology(configuration).apply(to: broker), invocation)
        } catch { throw CommandFailure(error) }
    }
}
