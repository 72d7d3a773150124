import RegistryCore

/// The group `apus topic`.
enum TopicCommands {
    /// Its commands.
    static let node = CommandNode.group(
        name: "topic",
        summary: "Subscribe devices and users to topics",
        discussion: """
            A topic is a name in an app, for example a chat room. An event 'push.requested' with a
            topic reaches every subscribed device, and every device of a subscribed user.
            """,
        nodes: [
            .command(TopicSubscribeCommand()),
            .command(TopicUnsubscribeCommand()),
            .command(TopicListCommand()),
        ]
    )
}

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
            try invocation.forEachPage { last, limit in
                try registry.topics(app: app, after: last?.topic, limit: limit)
            } _: { page in
                for topic in page {
                    invocation.show(
                        ["topic": topic.topic, "devices": topic.devices, "users": topic.users],
                        "\(topic.topic)  \(topic.devices) devices  \(topic.users) users")
                }
            }
        }
        return .ok
    }
}

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
