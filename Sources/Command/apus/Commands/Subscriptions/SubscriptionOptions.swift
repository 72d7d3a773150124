import Dispatcher
import Predicates
import PushCore

/// What the commands about subscriptions have in common: how a subscription is named, and how the registry is reached.
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
