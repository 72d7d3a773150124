import ChangeEvents
import JSON
import Predicates
import RegistryCore

/// Prints subscriptions, for people or for programs.
enum SubscriptionReport {
    /// Prints a subscription in one line.
    static func show(_ stored: StoredSubscription, to invocation: CommandInvocation) {
        invocation.show(json: json(stored), lines: [line(stored)])
    }

    /// The JSON of a subscription.
    static func json(_ stored: StoredSubscription) -> [UInt8] {
        var writer = JSONWriter()
        stored.subscription.write(to: &writer)
        return writer.bytes
    }

    /// One line of a list.
    private static func line(_ stored: StoredSubscription) -> String {
        let subscription = stored.subscription
        let condition = subscription.predicate == .always ? "" : " where \(subscription.predicate)"
        return "\(subscription.key.app)  \(owner(subscription.key.owner))  \(subscription.key.subscriptionID)  "
            + "\(what(subscription))\(condition)"
    }

    /// All of a subscription, a line for each of its properties.
    static func lines(_ stored: StoredSubscription) -> [String] {
        let subscription = stored.subscription
        return Report([
            .init(nil, subscription.key.subscriptionID, label: "subscription"),
            .init(nil, subscription.key.app, label: "app"),
            .init(nil, owner(subscription.key.owner), label: "owner"),
            .init(nil, what(subscription), label: "watches"),
            .init(nil, subscription.database.rawValue, label: "database"),
            .init(nil, subscription.zoneName, label: "zone"),
            .init(nil, "\(subscription.predicate)", label: "predicate"),
            .init(nil, subscription.firesOn.names.joined(separator: ", "), label: "fires on"),
            .init(nil, subscription.firesOnce ? "yes" : nil, label: "fires once"),
            .init(nil, String(decoding: subscription.notification.json, as: UTF8.self), label: "notification"),
            .init(time: nil, subscription.savedAtMilliseconds, label: "saved at"),
        ]).lines(gap: 2)
    }

    private static func owner(_ owner: SubscriptionOwner) -> String {
        switch owner {
        case .user(let user): "user \(user)"
        case .device(let device): "device \(device)"
        }
    }

    private static func what(_ subscription: RecordSubscription) -> String {
        switch subscription.kind {
        case .query: subscription.recordType ?? "all records"
        case .zone: "zone \(subscription.zoneName ?? "")"
        case .database: "the \(subscription.database.rawValue) database"
        }
    }
}
