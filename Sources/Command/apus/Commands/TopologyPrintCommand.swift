import ChangeQueue
import Dispatcher

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
        if invocation.isJSON {
            invocation.output.line(TopologyReport.json(objects))
        } else {
            for object in objects { invocation.output.lines(TopologyReport.text(object)) }
        }
        return .ok
    }
}
