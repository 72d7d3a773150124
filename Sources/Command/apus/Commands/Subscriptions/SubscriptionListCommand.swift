import PushCore

/// `apus subscription list`.
struct SubscriptionListCommand: Command {
    private static let app = CommandOption.value("app", "NAME", "Only subscriptions of this app.")
    private static let type = CommandOption.value("type", "RECORD-TYPE", "Only subscriptions to records of this type.")
    private static let counts = CommandOption.flag("counts", "Print the number for each app and record type.")

    let name = "list"
    let summary = "List subscriptions, or count them"
    let help = CommandHelp(
        discussion: "Lists subscriptions, one a line, in the order of their creation.",
        examples: [
            .init("apus subscription list --user anna", "Prints Anna's subscriptions."),
            .init("apus subscription list --counts", "Prints a line for each app and record type."),
        ],
        exitCodes: DeviceRegistry.exitCodes
    )
    let options =
        [app, SubscriptionOptions.user, SubscriptionOptions.device, type, counts, .json] + CommandOption.configuration

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let filter = SubscriptionFilter(
            app: invocation.string(Self.app), owner: try SubscriptionOptions.owner(invocation),
            recordType: invocation.string(Self.type))
        try DeviceRegistry.use(invocation, mode: .readOnly) { registry, _ in
            if invocation.has(Self.counts) { return try count(registry, invocation) }
            var last: Int64?
            while !invocation.output.isBroken {
                let page = try registry.subscriptions(matching: filter, after: last, limit: 1_000)
                for stored in page {
                    if invocation.isJSON {
                        invocation.output.line(SubscriptionReport.json(stored))
                    } else {
                        invocation.output.line(SubscriptionReport.line(stored))
                    }
                }
                guard let end = page.last?.row else { break }
                last = end
            }
        }
        return .ok
    }

    private func count(_ registry: any SubscriptionRegistry, _ invocation: CommandInvocation) throws {
        var last: SubscriptionCount?
        while !invocation.output.isBroken {
            let page = try registry.subscriptionCounts(app: invocation.string(Self.app), after: last, limit: 1_000)
            for count in page { invocation.output.line(invocation.isJSON ? Self.json(count) : Self.line(count)) }
            guard let end = page.last else { return }
            last = end
        }
    }

    private static func json(_ count: SubscriptionCount) -> String {
        var line = #"{"app":\#(quoted(count.app)),"#
        if let recordType = count.recordType { line += #""recordType":\#(quoted(recordType)),"# }
        return line + #""count":\#(count.count)}"#
    }

    private static func line(_ count: SubscriptionCount) -> String {
        "\(count.count)  \(count.app)  \(count.recordType ?? "(all types)")"
    }

    private static func quoted(_ text: String) -> String {
        TopicReport.quoted(text)
    }
}
