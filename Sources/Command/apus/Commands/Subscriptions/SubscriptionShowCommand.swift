import PushCore

/// `apus subscription show`.
struct SubscriptionShowCommand: Command {
    let name = "show"
    let summary = "Show a subscription"
    let help = CommandHelp(
        discussion: "Prints every property of a subscription.",
        examples: [.init("apus subscription show mei --app music --user anna", "Prints Anna's subscription 'mei'.")],
        exitCodes: DeviceRegistry.exitCodes
    )
    let options = SubscriptionOptions.key + [.json] + CommandOption.configuration
    let operands = Operands.exactly(["SUBSCRIPTION"])

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let key = try SubscriptionOptions.key(invocation)
        try DeviceRegistry.use(invocation, mode: .readOnly) { registry, _ in
            guard let stored = try registry.subscription(key) else { throw SubscriptionOptions.notFound(key) }
            if invocation.isJSON {
                invocation.output.line(SubscriptionReport.json(stored))
            } else {
                for line in SubscriptionReport.lines(stored) { invocation.output.line(line) }
            }
        }
        return .ok
    }
}
