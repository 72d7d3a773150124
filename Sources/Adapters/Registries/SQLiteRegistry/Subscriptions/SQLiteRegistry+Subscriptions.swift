import Predicates
public import RegistryCore
import RegistrySQL

extension SQLiteRegistry: SubscriptionRegistry {
    /// Saves subscriptions, all or none.
    public func save(_ subscriptions: [RecordSubscription]) throws(RegistryError) -> [Int64] {
        for subscription in subscriptions { try SubscriptionRules.check(subscription) }
        return try writing(durable: true) { () throws(RegistryError) in
            var rows: [Int64] = []
            var growth = SubscriptionGrowth()
            for subscription in subscriptions { rows.append(try save(subscription, &growth)) }
            try settle(growth)
            return rows
        }
    }

    private func save(
        _ subscription: RecordSubscription, _ growth: inout SubscriptionGrowth
    ) throws(RegistryError) -> Int64 {
        let app = try apps.identifierAdding(subscription.key.app)
        let known = try row(of: subscription.key)
        let statement = try statements.statement(known == nil ? Self.insertion : Self.update)
        let (user, device) = try owner(of: subscription.key, app: app)
        growth.add(subscription, before: try known.map(before))
        statement.bind(1, app)
        statement.bind(2, user)
        statement.bind(3, device)
        statement.bind(4, subscription.key.subscriptionID)
        if let known { statement.bind(5, known) }
        statement.bind(RecordSubscription.storedColumns, of: subscription, from: 6)
        try statement.run()
        return known ?? connection.lastInsertedRow
    }

    /// The columns that say whose a subscription is.
    private func owner(
        of key: SubscriptionKey, app: Int64
    ) throws(RegistryError) -> (user: String?, device: Int64?) {
        switch key.owner {
        case .user(let user): return (user, nil)
        case .device(let deviceID):
            guard let device = try storedDevice(deviceID), device.app == app else {
                throw RegistryError.noDevice(deviceID)
            }
            return (nil, device.row)
        }
    }

    /// The state of a subscription before it is saved again.
    private func before(_ row: Int64) throws(RegistryError) -> SubscriptionGrowth.Known {
        let statement = try statements.statement(
            "SELECT \(Schema.subscriptionBytes("s")), s.fired_event IS NOT NULL FROM subscription s WHERE s.id = ?")
        statement.bind(1, row)
        defer { statement.reset() }
        guard try statement.step() else { return .init(bytes: 0, hasFired: false) }
        return .init(bytes: statement.integer(0), hasFired: statement.integer(1) != 0)
    }

    private static let insertion = """
        INSERT INTO subscription (app, user_id, device, subscription_id, \(RecordSubscription.storedColumns.names()))
        VALUES (?1, ?2, ?3, ?4, \(RecordSubscription.storedColumns.parameters(from: 6)))
        """

    private static let update = """
        UPDATE subscription SET app = ?1, user_id = ?2, device = ?3, subscription_id = ?4,
            \(RecordSubscription.storedColumns.assignments(from: 6)), fired_event = NULL, fired_at = NULL
        WHERE id = ?5
        """

    /// Removes a subscription.
    public func removeSubscription(_ key: SubscriptionKey) throws(RegistryError) -> Bool {
        try writing(durable: true) { () throws(RegistryError) in
            guard let row = try row(of: key) else { return false }
            let statement = try statements.statement("DELETE FROM subscription WHERE id = ? RETURNING fired_event")
            statement.bind(1, row)
            defer { statement.reset() }
            // One that has fired its only push was gone already, as far as anyone could see.
            guard try statement.step() else { return false }
            return statement.optionalInteger(0) == nil && statement.bytes(0).isEmpty
        }
    }

    private static let wholeColumns = SubscriptionDecoder.wholeColumns(app: "s.app")
    /// The join that a subscription's device `o` comes from.
    static let deviceJoin = "LEFT JOIN device o ON o.id = s.device"

    private func wholeSubscription(_ row: Statement) throws(RegistryError) -> StoredSubscription {
        try decoder.whole(row, app: try apps.name(of: row.integer(1)))
    }

    /// One subscription, or nil.
    public func subscription(_ key: SubscriptionKey) throws(RegistryError) -> StoredSubscription? {
        try reading { () throws(RegistryError) in
            guard let row = try row(of: key) else { return nil }
            let statement = try statements.statement(
                """
                SELECT \(Self.wholeColumns) FROM subscription s \(Self.deviceJoin)
                WHERE s.id = ? AND s.fired_event IS NULL
                """)
            statement.bind(1, row)
            defer { statement.reset() }
            return try statement.step() ? try wholeSubscription(statement) : nil
        }
    }

    /// Subscriptions in the order of their rows.
    public func subscriptionPage(
        matching filter: SubscriptionFilter, after row: Int64?, limit: Int
    ) throws(RegistryError) -> SubscriptionPage {
        let limit = max(limit, 1)
        return try reading { () throws(RegistryError) in
            let statement = try statements.statement(Self.listSQL(filter))
            defer { statement.reset() }
            statement.bind(1, row ?? 0)
            statement.bind(2, filter.app)
            statement.bind(3, filter.recordType)
            switch filter.owner {
            case .user(let name), .device(let name): statement.bind(4, name)
            case nil: statement.bindNull(4)
            }
            statement.bind(5, limit == .max ? Int64.max : Int64(limit) + 1)
            var page = SubscriptionPage(subscriptions: [], next: nil)
            var bytes = 0
            while try statement.step() {
                guard page.subscriptions.count < limit, bytes < SubscriptionPage.bytesMaximum else {
                    page.next = page.subscriptions.last?.row
                    break
                }
                page.subscriptions.append(try wholeSubscription(statement))
                bytes += Int(statement.integer(SubscriptionDecoder.wholeColumnCount))
            }
            return page
        }
    }

    /// The statement of a page, which names its index: an owner's few subscriptions are sorted, those of an app and
    /// type are in order in their index, and all others are walked in order.
    static func listSQL(_ filter: SubscriptionFilter) -> String {
        var conditions = ["s.fired_event IS NULL"]
        if filter.app != nil { conditions.append("s.app = (SELECT id FROM app WHERE name = ?2)") }
        if filter.recordType != nil { conditions.append("s.record_type = ?3") }
        let index: String
        switch filter.owner {
        case .user:
            conditions.append("s.user_id = ?4")
            index = "INDEXED BY subscription_of_user"
        case .device:
            conditions.append("s.device = (SELECT id FROM device WHERE device_id = ?4)")
            index = "INDEXED BY subscription_of_device"
        case nil where filter.app != nil && filter.recordType != nil: index = "INDEXED BY subscription_by_type"
        case nil: index = "NOT INDEXED"
        }
        return """
            SELECT \(wholeColumns), \(Schema.subscriptionBytes("s"))
            FROM subscription s \(index) \(deviceJoin)
            WHERE s.id > ?1 AND \(conditions.joined(separator: " AND ")) ORDER BY s.id LIMIT ?5
            """
    }

    /// The statement of counts, which reads an index alone, in its order, and of that no more than a page needs.
    ///
    /// No record type is empty, so an empty one stands for none.
    static let countsSQL = """
        SELECT a.name, s.record_type, count(*) FROM app a CROSS JOIN subscription s ON s.app = a.id
        WHERE s.fired_event IS NULL AND (?1 IS NULL OR a.name = ?1)
            AND (?2 IS NULL OR a.name >= ?2 AND (a.name, coalesce(s.record_type, '')) > (?2, ?3))
        GROUP BY a.name, s.record_type ORDER BY a.name, s.record_type LIMIT ?4
        """

    /// How many subscriptions there are, by app and record type.
    public func subscriptionCounts(
        app: String?, after last: SubscriptionCount?, limit: Int
    ) throws(RegistryError) -> [SubscriptionCount] {
        try reading { () throws(RegistryError) in
            let statement = try statements.statement(Self.countsSQL)
            statement.bind(1, app)
            statement.bind(2, last?.app)
            statement.bind(3, last?.recordType ?? "")
            statement.bind(4, Int64(max(limit, 0)))
            var counts: [SubscriptionCount] = []
            try statement.forEachRow { row in
                counts.append(
                    SubscriptionCount(
                        app: row.text(0), recordType: row.optionalText(1), count: Int(row.integer(2))))
            }
            return counts
        }
    }

    private func row(of key: SubscriptionKey) throws(RegistryError) -> Int64? {
        let statement: Statement
        switch key.owner {
        case .user(let user):
            statement = try statements.statement(
                """
                SELECT id FROM subscription
                WHERE user_id = ?1 AND app = (SELECT id FROM app WHERE name = ?2) AND subscription_id = ?3
                """)
            statement.bind(1, user)
        case .device(let device):
            statement = try statements.statement(
                """
                SELECT id FROM subscription WHERE device = (SELECT id FROM device WHERE device_id = ?1)
                    AND app = (SELECT id FROM app WHERE name = ?2) AND subscription_id = ?3
                """)
            statement.bind(1, device)
        }
        statement.bind(2, key.app)
        statement.bind(3, key.subscriptionID)
        return try statement.firstInteger()
    }
}
