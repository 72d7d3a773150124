import Dispatcher
import WorkerConfiguration

/// `apus analytics`.
struct AnalyticsCommand: Command {
    let name = "analytics"
    let summary = "Count what becomes of pushes, by campaign"
    let help = CommandHelp(
        discussion: """
            Counts outcomes in the registry until SIGTERM or SIGINT: how many devices each campaign
            matched, how many pushes were accepted, found a dead token, expired or became dead
            letters, by platform and hour. 'apus campaign show' and the operator's page show the
            numbers.
              [analytics]
              enabled = true
              [[app]]
              name = "chat"
              outcomes = ["all"]
              opens = true        # devices report opened pushes
            A requested push names its campaign: {"app": "chat", "campaign": "spring-sale", …}. Other
            pushes count for dataset:NAME or subscription:ID.

            'apus topology apply' makes the queue NAMESPACE.outcomes.analytics, which this command
            empties. A push counts once, however often RabbitMQ delivers its outcome. Start one or
            more: they share the queue. The log goes to standard error. SIGHUP reads the
            configuration again.
            """,
        examples: [
            .init("apus topology apply && apus analytics", "Makes the queue, and counts."),
            .init("apus analytics --listen 127.0.0.1:9471", "Also serves health and metrics."),
        ],
        exitCodes: [.configuration, .unavailable, .noPermission]
    )
    let options = [OutcomeService.listen] + CommandOption.configuration

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        try await OutcomeService.run(AnalyticsRun.self, for: .tool, invocation)
    }
}
