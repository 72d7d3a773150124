public import RegistryCore
import RegistrySQL

extension SQLiteRegistry {
    /// The changes since a cursor.
    public func subscriptionChanges(
        after cursor: SubscriptionCursor?, limit: Int
    ) throws(RegistryError) -> SubscriptionChanges {
        // Read before anything else: a later commit changes the number.
        let version = FollowedVersion(
            data: try statements.statement("PRAGMA data_version").firstInteger() ?? 0, ownWrites: ownWrites)
        if let cursor, cursor.loadingAfterRow == nil, followed?.version == version, followed?.cursor == cursor {
            return SubscriptionChanges(changes: [], next: cursor, isCaughtUp: true)
        }
        let step = try reading { () throws(RegistryError) in try readChanges(after: cursor, limit: max(limit, 1)) }
        followed = step.isCaughtUp ? (version, step.next) : nil
        return step
    }

    private func readChanges(
        after cursor: SubscriptionCursor?, limit: Int
    ) throws(RegistryError) -> SubscriptionChanges {
        guard let cursor else { return try load(after: try beginning(), limit: limit) }
        guard try reachesBack(to: cursor.logPosition) else {
            var step = try load(after: try beginning(), limit: limit)
            step.startsOver = true
            return step
        }
        return cursor.loadingAfterRow == nil
            ? try follow(cursor, limit: limit) : try load(after: cursor, limit: limit)
    }

    private static let followedColumns = SubscriptionDecoder.followedColumns(app: "s.app")

    private func followed(_ row: Statement, from first: Int32) throws(RegistryError) -> FollowedSubscription {
        try SubscriptionDecoder.followed(row, from: first, app: try apps.name(of: row.integer(first + 1)))
    }

    private func beginning() throws(RegistryError) -> SubscriptionCursor {
        let head = try statements.statement("SELECT max(id) FROM subscription_log").firstInteger()
        return SubscriptionCursor(logPosition: head ?? 0, loadingAfterRow: 0)
    }

    /// Whether the log has everything since a position.
    private func reachesBack(to position: Int64) throws(RegistryError) -> Bool {
        guard let first = try statements.statement("SELECT min(id) FROM subscription_log").firstInteger()
        else { return position == 0 }
        guard let last = try statements.statement("SELECT max(id) FROM subscription_log").firstInteger()
        else { return false }
        return first <= position + 1 && position <= last
    }

    /// Reads the next of all subscriptions; changes since the beginning are followed afterwards.
    private func load(after cursor: SubscriptionCursor, limit: Int) throws(RegistryError) -> SubscriptionChanges {
        let statement = try statements.statement(
            """
            SELECT \(Self.followedColumns) FROM subscription s
            WHERE s.id > ?1 AND s.fired_event IS NULL ORDER BY s.id LIMIT ?2
            """)
        statement.bind(1, cursor.loadingAfterRow ?? 0)
        statement.bind(2, Int64(limit))
        var step = SubscriptionChanges(changes: [], next: cursor, isCaughtUp: false)
        try statement.forEachRow { row throws(RegistryError) in
            let subscription = try followed(row, from: 0)
            step.changes.append(.saved(subscription))
            step.next.loadingAfterRow = subscription.row
        }
        if step.changes.count < limit { step.next.loadingAfterRow = nil }
        return step
    }

    private func follow(_ cursor: SubscriptionCursor, limit: Int) throws(RegistryError) -> SubscriptionChanges {
        let statement = try statements.statement(
            """
            SELECT l.id, l.subscription, s.id IS NOT NULL AND s.fired_event IS NULL, \(Self.followedColumns)
            FROM subscription_log l
            LEFT JOIN subscription s ON s.id = l.subscription
            WHERE l.id > ?1 ORDER BY l.id LIMIT ?2
            """)
        statement.bind(1, cursor.logPosition)
        statement.bind(2, Int64(limit))
        var step = SubscriptionChanges(changes: [], next: cursor, isCaughtUp: false)
        try statement.forEachRow { row throws(RegistryError) in
            step.next.logPosition = row.integer(0)
            let isThere = row.integer(2) != 0
            step.changes.append(isThere ? .saved(try followed(row, from: 3)) : .removed(row.integer(1)))
        }
        step.isCaughtUp = step.changes.count < limit
        return step
    }
}

/// A state of the registry file, as this connection can tell one from another without reading it.
struct FollowedVersion: Equatable {
    /// SQLite's `data_version`, which changes when another connection has committed.
    var data: Int64
    /// How often this connection has written.
    var ownWrites: Int
}
