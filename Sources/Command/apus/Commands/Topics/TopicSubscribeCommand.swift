import PushCore

/// `apus topic subscribe`.
struct TopicSubscribeCommand: Command {
    let name = "subscribe"
    let summary = "Subscribe a device, or all devices of a user, to a topic"
    let help = CommandHelp(
        discussion: """
            Subscribes a device of the app, or a user with all present and future devices. A
            repeated subscription has no effect.
            """,
        examples: [
            .init("apus topic subscribe room-7 --app chat --user anna", "Anna joins the room, with all her devices."),
            .init("apus topic subscribe news --app chat --device phone-1", "Subscribes one device."),
        ],
        exitCodes: DeviceRegistry.exitCodes
    )
    let options = SubscriptionOptions.key + CommandOption.configuration
    let operands = Operands.exactly(["TOPIC"])

    func run(_ invocation: CommandInvocation) async throws -> ExitCode {
        let app = try invocation.required(SubscriptionOptions.app)
        let topic = invocation.operands[0]
        let owner = try SubscriptionOptions.requiredOwner(invocation)
        try DeviceRegistry.use(invocation, mode: .readWrite) { registry, configuration in
            switch owner {
            case .user(let user): try registry.subscribeUser(user, app: app, toTopic: topic)
            case .device(let device):
                guard try registry.device(device)?.app == app else { throw RegistryError.noDevice(device) }
                try registry.subscribe(device, toTopic: topic)
            }
            DeviceRegistry.warnUnlessConfigured([app], configuration)
        }
        return .ok
    }
}
