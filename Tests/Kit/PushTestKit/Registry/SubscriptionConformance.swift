import Predicates
import RegistryCore

/// The requirements for every implementation of `SubscriptionRegistry`.
enum SubscriptionConformance {
    /// All checks.
    static let all: [RegistryConformance] =
        savingChecks + followingChecks + subscriberChecks + coveringChecks + firingChecks + userChecks

    // MARK: Values and steps that the checks share

    static func key(_ identifier: String, user: String = "anna", app: String = "chat") -> SubscriptionKey {
        SubscriptionKey(app: app, owner: .user(user), subscriptionID: identifier)
    }

    static func key(_ identifier: String, device: String, app: String = "chat") -> SubscriptionKey {
        SubscriptionKey(app: app, owner: .device(device), subscriptionID: identifier)
    }

    static func subscription(
        _ key: SubscriptionKey, recordType: String = "Song", title: String? = nil, firesOnce: Bool = false,
        badge: Bool = false
    ) throws -> RecordSubscription {
        var notification = NotificationInfo()
        notification.alertBody = title
        notification.shouldBadge = badge
        return RecordSubscription(
            key: key, recordType: recordType,
            predicate: try Predicate(PredicateTerm("artist", .equals(.of("Mei Chen"), .caseInsensitive))),
            firesOn: [.created, .deleted], firesOnce: firesOnce, notification: notification,
            savedAtMilliseconds: 1_700_000_000_123)
    }

    static func devices(_ names: [String], user: String = "anna", in registry: any Registry) throws {
        try registry.upsert(try names.map { try RegistryConformance.device($0, user: user) })
    }

    /// Follows the registry to the end.
    static func follow(
        _ registry: any SubscriptionRegistry, _ known: inout [Int64: FollowedSubscription],
        from cursor: SubscriptionCursor?, limit: Int = 100
    ) throws -> SubscriptionCursor {
        var cursor = cursor
        for _ in 0..<10_000 {
            let step = try registry.subscriptionChanges(after: cursor, limit: limit)
            if step.startsOver { known.removeAll() }
            for change in step.changes {
                switch change {
                case .saved(let subscription): known[subscription.row] = subscription
                case .removed(let row): known[row] = nil
                }
            }
            cursor = step.next
            if step.isCaughtUp { return step.next }
        }
        throw RegistryViolation("following does not come to an end")
    }

    /// The subscriber of each push that a request leads to, on all its pages.
    static func subscribers(
        _ request: SubscriberRequest, limit: Int = 100, in registry: any SubscriptionRegistry
    ) throws -> [String] {
        var request = request
        var found: [String] = []
        for _ in 0..<10_000 {
            let page = try registry.resolveSubscribers([request], limit: limit)[0]
            try RegistryConformance.expect(
                page.entries.count <= limit || request.only != nil, is: true, "a page has \(limit) at most")
            for entry in page.entries {
                let row = page.subscriptions[entry.subscription].row
                found.append("\(row):\(entry.recipient.deviceID)")
            }
            guard let next = page.next else { return found }
            request.cursor = next
        }
        throw RegistryViolation("the pages do not come to an end")
    }
}
