import PushCore

/// `apus subscription delete`.
struct SubscriptionDeleteCommand: Command {
    let name = "delete"
    let summary = "Delete a subscription"
    let help = CommandHelp(
        discussion: "Deletes a subscription. Events that are published afterwards cause no push for it.",
        examples: [.init("apus subscription delete mei --app music --user anna", "Deletes Anna's subscription 'mei'.")],
        exitCodes: DeviceRegistry.exitCodes
    )
    let options = SubscriptionOptions.key + CommandOption.configuration
    let operands = Operands.exactly(["SUBSCRIPTION"])

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let key = try SubscriptionOptions.key(invocation)
        try DeviceRegistry.use(invocation, mode: .readWrite) { registry, _ in
            guard try registry.removeSubscription(key) else { throw SubscriptionOptions.notFound(key) }
        }
        return .ok
    }
}
