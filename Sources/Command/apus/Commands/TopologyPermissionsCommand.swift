import ChangeQueue
import Dispatcher
import WorkerConfiguration

/// `apus topology permissions`.
struct TopologyPermissionsCommand: Command {
    let name = "permissions"
    let summary = "Print the least permissions of RabbitMQ's users"
    let help = CommandHelp(
        discussion: """
            Prints for each role the command that gives a user of RabbitMQ the least
            permissions in the configured namespace and virtual host, without connecting to
            RabbitMQ. The names of the users are suggestions. 'apus check --connect' tells
            which roles the configured user may take.
            """,
        examples: [
            .init("apus topology permissions", "Prints the commands."),
            .init("apus topology permissions | sudo sh", "Permits it to the suggested users, which must exist."),
            .init("apus topology permissions --json", "Prints the patterns for programs."),
        ],
        exitCodes: [.configuration])
    let options = [CommandOption.json] + CommandOption.configuration

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let configuration = try invocation.loadConfiguration(for: .tool).configuration
        let virtualHost = try invocation.broker(configuration).virtualHost
        let roles = configuration.topology.roles
        invocation.show(
            json: roles.map { Self.report($0, virtualHost) }.json,
            lines: roles.flatMap { role in
                let words = [virtualHost, user(of: role, configuration), role.configure, role.write, role.read]
                let quoted = words.map(Self.quoted).joined(separator: " ")
                return ["# \(role.purpose)", "rabbitmqctl set_permissions -p \(quoted)"]
            })
        return .ok
    }

    private func user(of role: BrokerRole, _ configuration: Configuration) -> String {
        "\(configuration.rabbitMQ.namespace)-\(role.name.rawValue)"
    }

    /// A word for a shell.
    private static func quoted(_ word: String) -> String { "'\(word.replacing("'", with: "'\\''"))'" }

    private static func report(_ role: BrokerRole, _ virtualHost: String) -> Report {
        [
            "role": role.name.rawValue, "purpose": role.purpose, "virtualHost": virtualHost,
            "configure": role.configure, "write": role.write, "read": role.read,
        ]
    }
}
