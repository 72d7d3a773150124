import ChangeEvents
import Essentials
import JSON
import Predicates
import RegistryCore

/// Prints subscriptions, for people or for programs.
enum SubscriptionReport {
    /// The JSON of a subscription in one line.
    static func json(_ stored: StoredSubscription) -> String {
        var writer = JSONWriter()
        stored.subscription.write(to: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// One line of a list.
    static func line(_ stored: StoredSubscription) -> String {
        let subscription = stored.subscription
        let condition = subscription.predicate == .always ? "" : " where \(subscription.predicate)"
        return "\(subscription.key.app)  \(owner(subscription.key.owner))  \(subscription.key.subscriptionID)  "
            + "\(what(subscription))\(condition)"
    }

    /// All of a subscription, a line for each of its properties.
    static func lines(_ stored: StoredSubscription) -> [String] {
        let subscription = stored.subscription
        var lines = [
            "subscription  \(subscription.key.subscriptionID)",
            "app           \(subscription.key.app)",
            "owner         \(owner(subscription.key.owner))",
            "watches       \(what(subscription))",
            "database      \(subscription.database.rawValue)",
        ]
        if let zone = subscription.zoneName { lines.append("zone          \(zone)") }
        lines.append("predicate     \(subscription.predicate)")
        lines.append("fires on      \(subscription.firesOn.names.joined(separator: ", "))")
        if subscription.firesOnce { lines.append("fires once    yes") }
        lines.append("notification  \(String(decoding: subscription.notification.json, as: UTF8.self))")
        lines.append("saved at      \(WallTime.text(milliseconds: subscription.savedAtMilliseconds))")
        return lines
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
