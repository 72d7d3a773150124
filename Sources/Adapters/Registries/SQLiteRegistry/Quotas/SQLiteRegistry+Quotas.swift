import Essentials
import Predicates
public import RegistryCore
import RegistrySQL

/// Checks writes against the quotas; each check runs in the write transaction, which an error ends.
extension SQLiteRegistry: QuotaRegistry {
    /// The most that the definition of one subscription takes, so that a few are never too many bytes.
    private static let subscriptionBytesMaximum = Int64(
        PredicateLimits.canonicalBytesMaximum + NotificationInfo.writtenBytesMaximum
            + SubscriptionRules.cloudKitJSONBytesMaximum)

    // MARK: Subscriptions to records

    /// Counts saved subscriptions, and checks the owners and apps that have more than before.
    func settle(_ growth: SubscriptionGrowth) throws(RegistryError) {
        for (name, amount) in growth.apps { try settle(amount, app: try apps.identifierAdding(name)) }
        guard quotas[.subscriptionsPerOwner] != nil || quotas[.subscriptionBytesPerOwner] != nil else { return }
        for (key, amount) in growth.owners { try check(amount, of: key) }
    }

    private func settle(_ amount: SubscriptionGrowth.Amount, app: Int64) throws(RegistryError) {
        let statement = try statements.statement(
            """
            INSERT INTO app_usage (app, subscriptions, bytes) VALUES (?1, ?2, ?3)
            ON CONFLICT (app) DO UPDATE SET subscriptions = subscriptions + excluded.subscriptions,
                bytes = bytes + excluded.bytes
            RETURNING subscriptions, bytes
            """)
        statement.bind(1, app)
        statement.bind(2, amount.subscriptions)
        statement.bind(3, amount.bytes)
        var sums: (subscriptions: Int64, bytes: Int64) = (0, 0)
        try statement.forEachRow { row in sums = (row.integer(0), row.integer(1)) }
        if amount.subscriptions > 0 { try quotas.check(.subscriptionsPerApp, sums.subscriptions) }
        if amount.bytes > 0 { try quotas.check(.subscriptionBytesPerApp, sums.bytes) }
    }

    private func check(_ amount: SubscriptionGrowth.Amount, of key: SubscriptionKey) throws(RegistryError) {
        guard amount.subscriptions > 0 || amount.bytes > 0 else { return }
        // An owner's entries in the index are counted, as many as matter; rows are read only if that is not enough.
        let mostCounted = max(
            quotas[.subscriptionsPerOwner] ?? 0,
            (quotas[.subscriptionBytesPerOwner] ?? 0) / Int(Self.subscriptionBytesMaximum))
        let entries = try number(
            "SELECT count(*) FROM (SELECT 1 FROM \(Self.rows(of: key)) LIMIT ?3)", key,
            limit: Int64(mostCounted) + 1)
        let isMany = quotas[.subscriptionsPerOwner].map { entries > Int64($0) } ?? false
        if amount.subscriptions > 0, isMany {
            let kept = try number(
                "SELECT count(*) FROM \(Self.rows(of: key)) AND s.fired_event IS NULL", key)
            try quotas.check(.subscriptionsPerOwner, kept)
        }
        guard amount.bytes > 0, let limit = quotas[.subscriptionBytesPerOwner],
            entries * Self.subscriptionBytesMaximum > Int64(limit)
        else { return }
        let bytes = try number(
            """
            SELECT coalesce(sum(\(Schema.subscriptionBytes("s"))), 0) FROM \(Self.rows(of: key))
                AND s.fired_event IS NULL
            """, key)
        try quotas.check(.subscriptionBytesPerOwner, bytes)
    }

    /// The subscriptions of an owner in an app, by the index of owners.
    private static func rows(of key: SubscriptionKey) -> String {
        let owner =
            key.owner.isUser
            ? "subscription s INDEXED BY subscription_of_user WHERE s.user_id = ?1"
            : """
            subscription s INDEXED BY subscription_of_device
            WHERE s.device = (SELECT d.id FROM device d WHERE d.device_id = ?1)
            """
        return "\(owner) AND s.app = (SELECT a.id FROM app a WHERE a.name = ?2)"
    }

    private func number(
        _ sql: String, _ key: SubscriptionKey, limit: Int64? = nil
    ) throws(RegistryError) -> Int64 {
        let statement = try statements.statement(sql)
        statement.bind(1, key.owner.name)
        statement.bind(2, key.app)
        if let limit { statement.bind(3, limit) }
        return try statement.firstInteger() ?? 0
    }

    // MARK: Devices and their subscriptions

    /// Checks how many devices owners have in the apps of some that have just come to them.
    ///
    /// - Parameters:
    ///   - column: the column with the owner.
    ///   - deviceIDs: the devices.
    /// - Throws: `RegistryError` with `.quotaExceeded`.
    func checkDevices(_ column: String, of deviceIDs: @autoclosure () -> [String]) throws(RegistryError) {
        guard let limit = quotas[.devicesPerOwner] else { return }
        try run(.ownerDeviceCounts(column, of: deviceIDs(), limit: limit)) { (row) throws(RegistryError) in
            try quotas.check(.devicesPerOwner, row.integer(0))
        }
    }

    /// Checks how many datasets a device subscribes to that has just got one more.
    func checkDatasets(ofDevice row: Int64) throws(RegistryError) {
        guard quotas[.datasetsPerOwner] != nil else { return }
        try check(
            .datasetsPerOwner,
            """
            SELECT count(*) FROM dataset_subscription
            WHERE device = ?1 AND dataset_name <> \(Schema.futureDatasets)
            """, row)
    }

    /// Checks how many datasets are known of an identity that has just got one more.
    func checkDatasets(ofIdentity row: Int64) throws(RegistryError) {
        guard quotas[.datasetsPerOwner] != nil else { return }
        try check(.datasetsPerOwner, "SELECT count(*) FROM dataset WHERE identity = ?1", row)
    }

    /// Checks how many topics of its own a device has that has just got one more.
    func checkTopics(ofDevice row: Int64) throws(RegistryError) {
        guard quotas[.topicsPerOwner] != nil else { return }
        try check(
            .topicsPerOwner,
            "SELECT count(*) FROM topic_subscription WHERE device = ?1 AND source & \(TopicSource.device)", row)
    }

    private func check(_ quota: RegistryQuota, _ sql: String, _ row: Int64) throws(RegistryError) {
        let statement = try statements.statement(sql)
        statement.bind(1, row)
        try quotas.check(quota, try statement.firstInteger() ?? 0)
    }

    /// Checks the number of a user's topics in an app, after one was added.
    func checkTopics(ofUser user: String, app: Int64) throws(RegistryError) {
        guard quotas[.topicsPerOwner] != nil else { return }
        let statement = try statements.statement(
            """
            SELECT count(*) FROM topic_user u CROSS JOIN topic t ON t.id = u.topic
            WHERE u.user_id = ?1 AND t.app = ?2
            """)
        statement.bind(1, user)
        statement.bind(2, app)
        try quotas.check(.topicsPerOwner, try statement.firstInteger() ?? 0)
    }
}
