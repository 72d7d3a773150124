import Dispatcher
import WorkerConfiguration

/// `apus webhooks`.
struct WebhooksCommand: Command {
    let name = "webhooks"
    let summary = "Post what becomes of pushes to the backends of apps"
    let help = CommandHelp(
        discussion: """
            Posts outcomes over HTTPS to each app that has a section [app.webhook], until SIGTERM
            or SIGINT. Workers publish the outcomes that [[app]] outcomes selects; 'apus topology
            apply' makes a queue for each such app, NAMESPACE.outcomes.webhook.APP, and this
            command empties it:
              [[app]]
              name = "chat"
              outcomes = ["token-dead", "dead-lettered"]
              [app.webhook]
              url = "https://backend.example.com/push-outcomes"
              secret = ["whsec_…"]

            Requests are signed by the rules of Standard Webhooks: the headers webhook-id,
            webhook-timestamp and webhook-signature. Any answer 2xx takes an outcome. After any
            other, or none, it is posted again after 5 s, 1 m, 5 m, 30 m and every 2 h, until it
            is 'retention' old. Delivery is at least once: the same webhook-id is the same
            outcome. An endpoint that fails is left alone for up to a minute at a time, and holds
            up no other app. One that answers 410 gets nothing until SIGHUP or a restart.

            Start as many as you need: they share the queues. The log goes to standard error.
            SIGTERM or SIGINT waits for answers within [worker] drain_timeout, and exits with 0,
            or with 75 after the timeout. SIGHUP reads the configuration again. Nothing is lost
            either way: RabbitMQ delivers unfinished outcomes again.
            """,
        examples: [
            .init("apus topology apply && apus webhooks", "Makes the queues, and posts."),
            .init("apus webhooks --listen 127.0.0.1:9470", "Also serves health and metrics."),
            .init("apus webhooks test --app chat", "Posts one sample, to see what the endpoint answers."),
        ],
        exitCodes: [.configuration, .unavailable, .temporaryFailure, .noPermission]
    )
    let options = [OutcomeService.listen] + CommandOption.configuration

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        try await OutcomeService.run(WebhookRun.self, for: .webhooks, invocation)
    }
}

/// `apus webhooks` and the command below it.
enum WebhooksCommands {
    /// The command and its own command.
    static let node = CommandNode.parent(WebhooksCommand(), nodes: [.command(WebhooksTestCommand())])
}
