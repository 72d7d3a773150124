import PushCore

/// `apus topic unsubscribe`.
struct TopicUnsubscribeCommand: Command {
    let name = "unsubscribe"
    let summary = "End a subscription to a topic"
    let help = CommandHelp(
        discussion: """
            Ends the subscription of a device or of a user. The subscription of a device does not
            depend on the one of its user.
            """,
        examples: [.init("apus topic unsubscribe room-7 --app chat --user anna", "Anna leaves the room.")],
        exitCodes: DeviceRegistry.exitCodes
    )
    let options = SubscriptionOptions.key + CommandOption.configuration
    let operands = Operands.exactly(["TOPIC"])

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let app = try invocation.required(SubscriptionOptions.app)
        let topic = invocation.operands[0]
        let owner = try SubscriptionOptions.requiredOwner(invocation)
        try DeviceRegistry.use(invocation, mode: .readWrite) { registry, _ in
            let wasThere =
                switch owner {
                case .user(let user): try registry.unsubscribeUser(user, app: app, fromTopic: topic)
                case .device(let device): try registry.unsubscribe(device, fromTopic: topic)
                }
            guard wasThere else {
                throw CommandFailure(.data, "There was no such subscription to the topic \"\(topic)\".")
            }
        }
        return .ok
    }
}
