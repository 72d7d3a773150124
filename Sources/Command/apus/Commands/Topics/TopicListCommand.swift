import PushCore

/// `apus topic list`.
struct TopicListCommand: Command {
    let name = "list"
    let summary = "List the topics of an app with their subscribers"
    let help = CommandHelp(
        discussion: """
            Lists the topics that have subscribers, by name, with the number of devices and users.
            """,
        examples: [.init("apus topic list --app chat --json", "Prints a JSON object for each topic, one a line.")],
        exitCodes: DeviceRegistry.exitCodes
    )
    let options = [SubscriptionOptions.app, .json] + CommandOption.configuration

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let app = try invocation.required(SubscriptionOptions.app)
        try DeviceRegistry.use(invocation, mode: .readOnly) { registry, _ in
            var last: String?
            while !invocation.output.isBroken {
                let page = try registry.topics(app: app, after: last, limit: 1_000)
                for topic in page {
                    invocation.output.line(invocation.isJSON ? TopicReport.json(topic) : TopicReport.line(topic))
                }
                guard let end = page.last?.topic else { break }
                last = end
            }
        }
        return .ok
    }
}
