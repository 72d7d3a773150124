import PostgreSQL
import RegistryCore
import RegistrySQL

/// Statements that fail if an owner or app has more than a quota allows, so a check costs no round trip of its own.
///
/// Limits stand in their texts: a registry has one set of them.
enum QuotaCalls {
    /// Adds rows, and refuses them if their owners would exceed a quota.
    ///
    /// - Parameters:
    ///   - insertion: the statement that adds them.
    ///   - columns: the columns of an added row, as `RETURNING` takes them.
    ///   - owner: the columns that identify the row's owner.
    ///   - counted: which of the added rows count.
    ///   - before: counts the rows that an owner `a` had before, because a statement does not see its own additions.
    ///   - quota: the quota.
    ///   - limit: its limit; nil if there is none.
    /// - Returns: the statement.
    static func adding(
        _ insertion: Call, returning columns: String, of owner: String, counted: String = "true", before: String,
        _ quota: RegistryQuota, limit: Int?
    ) -> Call {
        guard let limit else { return insertion }
        return Call(
            """
            WITH added AS (\(insertion.sql) RETURNING \(columns))
            SELECT \(refusal(quota, limit)) FROM (
                SELECT \(owner), count(*) AS number FROM added WHERE \(counted) GROUP BY \(owner)) a
            WHERE a.number + (\(before)) > \(limit)
            """, insertion.parameters)
    }

    /// The expression that ends the transaction.
    static func refusal(_ quota: RegistryQuota, _ limit: Int) -> String { "apus.refuse('\(quota.rawValue) \(limit)')" }

    /// Refuses devices that have just come to an owner that then has too many in their app.
    ///
    /// - Parameters:
    ///   - column: the column with the owner.
    ///   - deviceIDs: the devices.
    ///   - limit: the limit.
    /// - Returns: the statements.
    static func checkDevices(_ column: String, of deviceIDs: [String], limit: Int) -> [Call] {
        guard !deviceIDs.isEmpty else { return [] }
        let counts = Call(.ownerDeviceCounts(column, of: deviceIDs, limit: limit))
        return [
            Call(
                "SELECT \(refusal(.devicesPerOwner, limit)) FROM (\(counts.sql)) a WHERE a.number > \(limit)",
                counts.parameters)
        ]
    }

    // MARK: Subscriptions to records

    /// Adds saved subscriptions to the counts of apps, and returns the new counts.
    ///
    /// Called after the statements that saved it, which have taken the lock of the log.
    static func settle(_ growth: SubscriptionGrowth, _ quotas: RegistryQuotas) -> [Call] {
        let apps = growth.apps
        let settling = Call(
            """
            INSERT INTO apus.app_usage AS u (app, subscriptions, bytes)
            SELECT a.id, r.number, r.bytes FROM unnest($1::text[], $2::bigint[], $3::bigint[]) r(name, number, bytes)
            JOIN apus.app a ON a.name = r.name ORDER BY a.id
            ON CONFLICT (app) DO UPDATE SET subscriptions = u.subscriptions + excluded.subscriptions,
                bytes = u.bytes + excluded.bytes
            """,
            [
                .texts(apps.map(\.name)), .integers(apps.map(\.amount.subscriptions)),
                .integers(apps.map(\.amount.bytes)),
            ])
        return [settling]
            + checkApps(
                apps.filter { $0.amount.subscriptions > 0 }.map(\.name), .subscriptionsPerApp, "subscriptions", quotas)
            + checkApps(apps.filter { $0.amount.bytes > 0 }.map(\.name), .subscriptionBytesPerApp, "bytes", quotas)
            + checkOwners(
                growth.owners.filter { $0.amount.subscriptions > 0 }.map(\.key), .subscriptionsPerOwner, "count(*)",
                quotas)
            + checkOwners(
                growth.owners.filter { $0.amount.bytes > 0 }.map(\.key), .subscriptionBytesPerOwner,
                "sum(\(Schema.subscriptionBytes("s")))", quotas)
    }

    private static func checkApps(
        _ names: [String], _ quota: RegistryQuota, _ column: String, _ quotas: RegistryQuotas
    ) -> [Call] {
        guard let limit = quotas[quota], !names.isEmpty else { return [] }
        return [
            Call(
                """
                SELECT \(refusal(quota, limit)) FROM unnest($1::text[]) r(name) JOIN apus.app a ON a.name = r.name
                JOIN apus.app_usage u ON u.app = a.id WHERE u.\(column) > \(limit)
                """, [.texts(names)])
        ]
    }

    /// Counts the subscriptions of owners that have not fired their only push.
    private static func checkOwners(
        _ keys: [SubscriptionKey], _ quota: RegistryQuota, _ number: String, _ quotas: RegistryQuotas
    ) -> [Call] {
        guard let limit = quotas[quota], !keys.isEmpty else { return [] }
        func kept(_ condition: String) -> String {
            "(SELECT \(number) FROM apus.subscription s WHERE \(condition) AND s.fired_event IS NULL) > \(limit)"
        }
        return [
            Call(
                """
                SELECT \(refusal(quota, limit))
                FROM unnest($1::text[], $2::text[], $3::text[]) r(app, owner_user, device)
                JOIN apus.app a ON a.name = r.app
                WHERE \(kept("s.user_id = r.owner_user AND s.app = a.id")) OR \
                \(kept("s.device = (SELECT d.id FROM apus.device d WHERE d.device_id = r.device) AND s.app = a.id"))
                """,
                [
                    .texts(keys.map(\.app)), .optionalTexts(keys.map { $0.owner.isUser ? $0.owner.name : nil }),
                    .optionalTexts(keys.map { $0.owner.isUser ? nil : $0.owner.name }),
                ])
        ]
    }
}
