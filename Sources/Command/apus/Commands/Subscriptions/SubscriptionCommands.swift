import Predicates
import RegistryCore

/// The group `apus subscription`.
enum SubscriptionCommands {
    /// Its commands.
    static let node = CommandNode.group(
        name: "subscription",
        summary: "Subscribe users and devices to changes of records, by a condition on their fields",
        discussion: """
            When a record is created, updated or deleted, every device with a matching subscription
            gets a push, except the device that made the change.
            """,
        nodes: [
            .command(SubscriptionSaveCommand()),
            .command(SubscriptionListCommand()),
            .command(SubscriptionShowCommand()),
            .command(SubscriptionDeleteCommand()),
            .command(SubscriptionTestCommand()),
        ]
    )
}

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
            try invocation.forEachPage { last, limit in
                try registry.subscriptions(matching: filter, after: last?.row, limit: limit)
            } _: { page in
                for stored in page { SubscriptionReport.show(stored, to: invocation) }
            }
        }
        return .ok
    }

    private func count(_ registry: any SubscriptionRegistry, _ invocation: CommandInvocation) throws {
        try invocation.forEachPage { last, limit in
            try registry.subscriptionCounts(app: invocation.string(Self.app), after: last, limit: limit)
        } _: { page in
            for count in page {
                invocation.show(
                    ["app": count.app, "recordType": count.recordType, "count": count.count],
                    "\(count.count)  \(count.app)  \(count.recordType ?? "(all types)")")
            }
        }
    }
}

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
            invocation.show(json: SubscriptionReport.json(stored), lines: SubscriptionReport.lines(stored))
        }
        return .ok
    }
}

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

/// The common parts of the commands about subscriptions: how they name one, and how they reach the registry.
enum SubscriptionOptions {
    static let app = CommandOption.value("app", "NAME", "The app, by its name in the configuration.", isRequired: true)
    static let user = CommandOption.value("user", "USER", "The owner: a user, with all devices in the app.")
    static let device = CommandOption.value("device", "DEVICE", "The owner: a single device.")
    static let predicate = CommandOption.value(
        "predicate", "TEXT", #"The condition, for example 'artist = "Mei Chen" AND price <= 20'."#)
    static let filter = CommandOption.value("filter", "JSON", "The condition as an Amplify filter.")

    /// The options that name one subscription, beside its identifier.
    static let key = [app, user, device]

    /// The name that the options and the first operand give.
    static func key(_ invocation: CommandInvocation) throws(CommandFailure) -> SubscriptionKey {
        guard let identifier = invocation.operands.first else { throw .usage("SUBSCRIPTION is missing") }
        let owner = try requiredOwner(invocation)
        return SubscriptionKey(app: try invocation.required(app), owner: owner, subscriptionID: identifier)
    }

    /// The owner that the options give, which they have to.
    static func requiredOwner(_ invocation: CommandInvocation) throws(CommandFailure) -> SubscriptionOwner {
        guard let owner = try owner(invocation) else { throw .usage("--user or --device is missing") }
        return owner
    }

    /// The owner that the options give; nil if they give none.
    static func owner(_ invocation: CommandInvocation) throws(CommandFailure) -> SubscriptionOwner? {
        switch (invocation.string(user), invocation.string(device)) {
        case (let user?, nil): return .user(user)
        case (nil, let device?): return .device(device)
        case (nil, nil): return nil
        default: throw .usage("--user and --device exclude each other")
        }
    }

    /// The predicate that an option gives; nil if it was not given.
    static func predicate(_ invocation: CommandInvocation) throws(CommandFailure) -> Predicate? {
        guard let text = invocation.string(predicate) else { return nil }
        do throws(PredicateError) {
            return try Predicate(parsing: text)
        } catch {
            throw .usage("--predicate, \(error.description)")
        }
    }

    /// Says that there is no such subscription.
    static func notFound(_ key: SubscriptionKey) -> CommandFailure {
        let whose =
            switch key.owner {
            case .user(let user): "user \(user)"
            case .device(let device): "device \(device)"
            }
        return CommandFailure(
            .data,
            "There is no subscription \"\(key.subscriptionID)\" of \(whose) in the app \(key.app). "
                + "'apus subscription list' shows the subscriptions.")
    }
}
