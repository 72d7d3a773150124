import ChangeEvents
import Predicates

/// The rules for subscriptions; every implementation of `SubscriptionRegistry` checks with these.
public enum SubscriptionRules {
    /// The largest badge.
    public static let badgeMaximum = 1_000_000
    /// How many events a device remembers that have counted on its badge; more than are redelivered to it at once.
    public static let badgeEventsMaximum = 64

    /// The longest dictionary of CloudKit Web Services, in bytes without white space.
    public static let cloudKitJSONBytesMaximum = 64 * 1024

    /// Checks a subscription.
    ///
    /// - Throws: `RegistryError` with `.invalid`, saying which part is wrong and what would be right.
    public static func check(_ subscription: RecordSubscription) throws(RegistryError) {
        try check(subscription.key)
        if let type = subscription.recordType { try RegistryRules.check(type, "record type") }
        if let zone = subscription.zoneName { try RegistryRules.check(zone, "zone") }
        guard !subscription.firesOn.isEmpty, subscription.firesOn.isSubset(of: .all) else {
            throw invalid(subscription, "must fire on created, updated or deleted, or on several of them")
        }
        try checkKind(subscription)
        if subscription.database != .public {
            guard case .user = subscription.key.owner else {
                throw invalid(subscription, "watches a database of one user, so it must belong to a user, not a device")
            }
        }
        if let count = subscription.cloudKitJSON?.count, count > cloudKitJSONBytesMaximum {
            throw invalid(
                subscription, "takes \(count) bytes as a dictionary; at most \(cloudKitJSONBytesMaximum) are accepted")
        }
        try checkLength(of: subscription)
        try subscription.notification.check()
        try SubscriptionPush.checkSize(of: subscription)
    }

    /// Checks a badge.
    ///
    /// - Throws: `RegistryError` with `.invalid`.
    public static func check(badge: Int) throws(RegistryError) {
        guard (0...badgeMaximum).contains(badge) else {
            throw RegistryError(.invalid, "A badge is a whole number of 0 to \(badgeMaximum), not \(badge).")
        }
    }

    /// Checks the names of a key.
    ///
    /// - Throws: `RegistryError` with `.invalid`.
    public static func check(_ key: SubscriptionKey) throws(RegistryError) {
        try RegistryRules.check(key.app, "app", .app)
        try RegistryRules.check(key.subscriptionID, "subscription identifier")
        switch key.owner {
        case .user(let user): try RegistryRules.check(user, "user")
        case .device(let device): try RegistryRules.check(device, "device identifier")
        }
    }

    /// Checks that the predicate, as it is answered, can be sent back.
    ///
    /// A short predicate has a short text: none is longer than sixteen times the canonical form.
    private static func checkLength(of subscription: RecordSubscription) throws(RegistryError) {
        let bytesMaximum = PredicateLimits.writtenBytesMaximum
        guard subscription.predicate.canonicalBytes.count > bytesMaximum / 16 else { return }
        let byteCount = subscription.predicate.description.utf8.count
        guard byteCount > bytesMaximum else { return }
        throw invalid(
            subscription,
            "has a predicate that takes \(byteCount) bytes as text; at most \(bytesMaximum) are accepted")
    }

    private static func checkKind(_ subscription: RecordSubscription) throws(RegistryError) {
        switch subscription.kind {
        case .query:
            guard subscription.recordType != nil else {
                throw invalid(subscription, "is a query and needs a record type")
            }
            guard subscription.database != .shared else {
                throw invalid(subscription, "is a query, which the shared database does not have; watch the database")
            }
        case .zone:
            guard subscription.zoneName != nil else { throw invalid(subscription, "watches a zone and needs its name") }
            guard subscription.database == .private else {
                throw invalid(subscription, "watches a zone, which only private databases have")
            }
        case .database:
            guard subscription.database != .public else {
                throw invalid(subscription, "watches a whole database, which must be private or shared")
            }
            guard subscription.zoneName == nil else {
                throw invalid(subscription, "watches a whole database; leave the zone out or watch the zone")
            }
        }
        guard subscription.kind == .query || subscription.predicate == .always else {
            throw invalid(subscription, "has a predicate, which only queries have")
        }
    }

    private static func invalid(_ subscription: RecordSubscription, _ what: String) -> RegistryError {
        RegistryError(.invalid, "The subscription \"\(subscription.key.subscriptionID.prefix(40))\" \(what).")
    }
}
