public import RegistryCore

extension Registry where Self: SQLStore {
    /// Removes a device and its subscriptions.
    public func removeDevice(_ deviceID: String) throws(RegistryError) -> Bool {
        try write(durable: true, "DELETE FROM \(table: "device") WHERE device_id = \(deviceID)") > 0
    }

    /// Ends a topic subscription; that of the device's user stays.
    public func unsubscribe(_ deviceID: String, fromTopic topic: String) throws(RegistryError) -> Bool {
        let rows: SQLStatement = """
            device = (SELECT d.id FROM \(table: "device") d WHERE d.device_id = \(deviceID)) AND topic = (
                SELECT t.id FROM \(table: "device") d CROSS JOIN \(table: "topic") t
                WHERE d.device_id = \(deviceID) AND t.name = \(topic) AND t.app = d.app)
            """
        return try write(durable: true) { (transaction) throws(RegistryError) in
            try transaction.commit(SQLStatement.end(TopicSource.device, of: rows))[0] > 0
        }
    }
}

extension SubscriptionRegistry where Self: RegistryTransfer {
    /// Subscribes all devices of a user, now and later, to a topic.
    public func subscribeUser(_ userID: String, app: String, toTopic topic: String) throws(RegistryError) {
        try addTopicUsers([TopicUser(userID: userID, app: app, topic: topic)])
    }
}

extension SubscriptionRegistry where Self: SQLStore {
    /// Ends a user's subscription to a topic.
    public func unsubscribeUser(
        _ userID: String, app: String, fromTopic topic: String
    ) throws(RegistryError) -> Bool {
        let topic: SQLStatement = """
            topic = (SELECT t.id FROM \(table: "app") a CROSS JOIN \(table: "topic") t
                WHERE a.name = \(app) AND t.app = a.id AND t.name = \(topic))
            """
        let devices: SQLStatement = "device IN (SELECT d.id FROM \(table: "device") d WHERE d.user_id = \(userID))"
        return try write(durable: true) { (transaction) throws(RegistryError) in
            try transaction.commit(
                [
                    .lockUsers([userID], isShared: false),
                    "DELETE FROM \(table: "topic_user") WHERE user_id = \(userID) AND \(topic)",
                ] + SQLStatement.end(TopicSource.user, of: "\(topic) AND \(devices)"))[1] > 0
        }
    }

    /// The topics of a device, sorted.
    public func topics(of deviceID: String) throws(RegistryError) -> [String] {
        try ask(
            """
            SELECT t.name FROM \(table: "device") d CROSS JOIN \(table: "topic_subscription") u
            CROSS JOIN \(table: "topic") t
            WHERE d.device_id = \(deviceID) AND u.device = d.id AND t.id = u.topic ORDER BY t.name
            """
        ) { $0.text(0) }
    }

    /// The topics of an app, by name.
    public func topics(app: String, after topic: String?, limit: Int) throws(RegistryError) -> [TopicCount] {
        let devices: SQLStatement = """
            FROM \(table: "topic_subscription") u
            WHERE u.topic = t.id AND u.source & \(sql: "\(TopicSource.device)") <> 0
            """
        let users: SQLStatement = "FROM \(table: "topic_user") u WHERE u.topic = t.id"
        return try ask(
            """
            SELECT t.name, (SELECT count(*) \(devices)), (SELECT count(*) \(users)) FROM \(table: "topic") t
            WHERE t.app = (SELECT a.id FROM \(table: "app") a WHERE a.name = \(app)) AND t.name > \(topic ?? "")
                AND (EXISTS (SELECT 1 \(devices)) OR EXISTS (SELECT 1 \(users)))
            ORDER BY t.name LIMIT \(Int64(max(limit, 0)))
            """
        ) { TopicCount(topic: $0.text(0), devices: Int($0.integer(1)), users: Int($0.integer(2))) }
    }
}

// MARK: - Erasing

extension SubscriptionRegistry where Self: CampaignRegistry & SQLStore {
    /// Erases everything of an identity.
    public func eraseIdentity(_ identityID: String) throws(RegistryError) -> Int {
        let identity: SQLStatement = "(SELECT n.id FROM \(table: "identity") n WHERE n.name = \(identityID))"
        let opens = try opensToSubtract(ofDevicesWhere: "d.identity = \(identity)")
        return try write(durable: true) { (transaction) throws(RegistryError) in
            let lock: SQLStatement =
                "SELECT n.id FROM \(table: "identity") n WHERE n.name = \(identityID) \(postgres: "FOR UPDATE")"
            let removals: [SQLStatement] = ["device", "dataset_subscription", "dataset"].map {
                "DELETE FROM \(table: $0) WHERE identity = \(identity)"
            }
            let name: SQLStatement = "DELETE FROM \(table: "identity") WHERE name = \(identityID)"
            return try transaction.commit([lock] + opens + removals + [name])[1 + opens.count]
        }
    }

    /// Erases everything of a user.
    public func eraseUser(_ userID: String) throws(RegistryError) -> Int {
        let opens = try opensToSubtract(ofDevicesWhere: "d.user_id = \(userID)")
        return try write(durable: true) { (transaction) throws(RegistryError) in
            let subscriptions: [SQLStatement] = ["subscription", "topic_user"].map {
                "DELETE FROM \(table: $0) WHERE user_id = \(userID)"
            }
            let devices: SQLStatement = "DELETE FROM \(table: "device") WHERE user_id = \(userID)"
            return try transaction.commit(
                [.lockUsers([userID], isShared: false)] + subscriptions + opens + [devices])[3 + opens.count]
        }
    }
}

extension SQLStatement {
    /// Locks users in PostgreSQL until the transaction ends: against other changes of their topics, and against
    /// registrations of their devices.
    ///
    /// SQLite has one writer at a time, and locks nothing here. The number is the letters `APUS`. All users share a few
    /// locks, because PostgreSQL has room for some thousands in all.
    ///
    /// - Parameters:
    ///   - users: their names.
    ///   - isShared: whether others may do the same at the same time.
    /// - Returns: the statement.
    public static func lockUsers(_ users: [String], isShared: Bool) -> SQLStatement {
        let lock = "pg_advisory_xact_lock\(isShared ? "_shared" : "")(\(0x4150_5553), x.number)"
        let columns: [StoredColumn<String>] = [.text("name") { $0 }]
        return """
            SELECT \(sqlite: "1", postgres: lock) FROM (
                SELECT DISTINCT \(sqlite: "1", postgres: "hashtext(r.name) & 63") AS number
                FROM \(rows: columns, of: users) ORDER BY 1) x
            """
    }

    /// Ends one source of topic subscriptions, as two statements: the first changes the rows that have it.
    fileprivate static func end(_ source: Int64, of rows: SQLStatement) -> [SQLStatement] {
        [
            """
            UPDATE \(table: "topic_subscription") SET source = source & ~\(sql: "\(source)")
            WHERE \(rows) AND source & \(sql: "\(source)") <> 0
            """, "DELETE FROM \(table: "topic_subscription") WHERE \(rows) AND source = 0",
        ]
    }
}
