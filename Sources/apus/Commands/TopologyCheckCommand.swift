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
            exchange cannot be asked; 'apus topology apply' binds it again in any case.
            """,
        examples: [.init("apus topology check", "Says of each object whether it is as it should be.")],
        exitCodes: [.unavailable, .noPermission, .configuration, .temporaryFailure]
    )
    let options = [CommandOption.json] + CommandOption.configuration

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let configuration = try invocation.loadConfiguration(for: .tool).configuration
        let broker = try invocation.broker(configuration)
        do {
            return TopologyReport.finish(try await configuration.topology.check(broker), invocation)
        } catch { throw CommandFailure(error) }
    }
}
