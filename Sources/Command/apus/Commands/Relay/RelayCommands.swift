import Dispatcher
import Relay
import WorkerConfiguration

/// `apus relay` and the commands below it.
enum RelayCommands {
    /// The command and its own commands.
    static let node = CommandNode.parent(
        RelayCommand(), nodes: [.command(RelaySQLCommand()), .command(RelayTriggerCommand())])
}

/// `apus relay`.
struct RelayCommand: Command {
    let name = "relay"
    let summary = "Move the events of a database's outbox to RabbitMQ"
    let help = CommandHelp(
        discussion: """
            Publishes the rows of the outbox in [relay] url until SIGTERM or SIGINT, each with
            RabbitMQ's confirm, and then deletes them in the same transaction. So a row that a
            backend committed is an event: whichever process dies, none is lost, and one may come
            twice.
              [relay]
              url = "postgresql://apus_relay:PASSWORD@db.example.com/shop?sslmode=verify-full"
            'apus relay sql' prints what makes the outbox. The backend publishes inside its own
            transaction, in any language:
              BEGIN;
              UPDATE orders SET state = 'sent' WHERE id = 18231;
              SELECT apus_outbox.push('chat', ARRAY['mei'], '{"title": "On its way"}');
              COMMIT;

            Rows of one key keep their order. While RabbitMQ takes nothing, rows wait in their
            table. A row that makes no event goes to apus_outbox.refused with its reason. Start as
            many as you need: they share the rows. The log goes to standard error. SIGHUP reads the
            configuration again.
            """,
        examples: [
            .init("apus relay sql | psql shop && apus relay", "Makes the outbox, and empties it."),
            .init("apus relay --listen 127.0.0.1:9472", "Also serves health and metrics."),
        ],
        exitCodes: [.configuration, .unavailable, .temporaryFailure, .noPermission]
    )
    let options = [OutcomeService.listen] + CommandOption.configuration

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        try await OutcomeService.run(RelayRun.self, for: .tool, invocation)
    }
}

/// `apus relay sql`.
struct RelaySQLCommand: Command {
    private static let relayRole = CommandOption.value(
        "relay-role", "NAME", "Also grant this role what 'apus relay' needs.")
    private static let publisherRole = CommandOption.value(
        "publisher-role", "NAME", "Also grant this role what a backend needs.")

    let name = "sql"
    let summary = "Print the SQL that makes the outbox"
    let help = CommandHelp(
        discussion: """
            Prints the schema apus_outbox: a table, and the functions that backends call. Run it as
            the owner of the backend's database; to run it again changes nothing. Roles need no
            rights to the tables.
            """,
        examples: [
            .init(
                "apus relay sql --relay-role apus_relay --publisher-role shop | psql shop",
                "Makes the outbox, with the rights of two roles.")
        ],
        exitCodes: []
    )
    let options = [relayRole, publisherRole]

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        invocation.output.write(
            OutboxSQL.text(
                relayRole: invocation.string(Self.relayRole), publisherRole: invocation.string(Self.publisherRole)))
        return .ok
    }
}
