public import RegistryCore
import RegistrySQL

extension SQLiteRegistry {
    /// Subscribes a device to a topic of its app.
    public func subscribe(_ deviceID: String, toTopic topic: String) throws(RegistryError) {
        try RegistryRules.checkTopic(topic)
        try writing(durable: true) { () throws(RegistryError) in
            guard let device = try storedDevice(deviceID) else { throw RegistryError.noDevice(deviceID) }
            try addTopicSubscriptions(
                [DeviceSubscription(deviceID, to: topic)], to: [AppTopic(topic, app: try apps.name(of: device.app))])
        }
    }

    /// Ends a topic subscription.
    public func unsubscribe(_ deviceID: String, fromTopic topic: String) throws(RegistryError) -> Bool {
        try writing(durable: true) { () throws(RegistryError) in
            guard let device = try storedDevice(deviceID), let number = try self.topic(topic, app: device.app)
            else { return false }
            // The user's own subscription stays.
            let update = try statements.statement(
                """
                UPDATE topic_subscription SET source = source & ~\(TopicSource.device)
                WHERE topic = ? AND device = ? AND source & \(TopicSource.device)
                """)
            update.bind(1, number)
            update.bind(2, device.row)
            let deletion = try statements.statement(
                "DELETE FROM topic_subscription WHERE topic = ? AND device = ? AND source = 0")
            deletion.bind(1, number)
            deletion.bind(2, device.row)
            let wasThere = try update.run() > 0
            try deletion.run()
            return wasThere
        }
    }
}

extension SQLiteRegistry {
    /// The topics of a device, sorted.
    public func topics(of deviceID: String) throws(RegistryError) -> [String] {
        let statement = try statements.statement(
            """
            SELECT t.name FROM device d
            JOIN topic_subscription u ON u.device = d.id
            JOIN topic t ON t.id = u.topic
            WHERE d.device_id = ? ORDER BY t.name
            """)
        statement.bind(1, deviceID)
        var topics: [String] = []
        try statement.forEachRow { row in topics.append(row.text(0)) }
        return topics
    }

    /// Subscribes all devices of a user, now and later, to a topic.
    public func subscribeUser(_ userID: String, app: String, toTopic topic: String) throws(RegistryError) {
        try RegistryRules.checkTopic(topic)
        try RegistryRules.checkOwner(userID, app: app)
        try writing(durable: true) { () throws(RegistryError) in
            try addTopicUser(TopicUser(userID: userID, app: app, topic: topic))
        }
    }

    /// Subscribes a user to a topic; called in a write transaction.
    func addTopicUser(_ wish: TopicUser) throws(RegistryError) {
        let app = try apps.identifierAdding(wish.app)
        try run(.addTopics([AppTopic(wish.topic, app: wish.app)]))
        guard let number = try topic(wish.topic, app: app) else { return }
        if try run("INSERT OR IGNORE INTO topic_user (user_id, topic) VALUES (?1, ?2)", wish.userID, number) > 0 {
            try checkTopics(ofUser: wish.userID, app: app)
        }
        try run(
            """
            INSERT INTO topic_subscription (topic, device, source, joined)
            SELECT t.id, d.id, \(TopicSource.user), \(SQLStatement.newestFanOut)
            FROM topic t JOIN device d ON d.user_id = ?1 AND d.app = t.app
            WHERE t.id = ?2
            ON CONFLICT DO UPDATE SET source = source | excluded.source
            """, wish.userID, number)
    }

    /// Ends a user's subscription to a topic.
    public func unsubscribeUser(
        _ userID: String, app: String, fromTopic topic: String
    ) throws(RegistryError) -> Bool {
        try writing(durable: true) { () throws(RegistryError) in
            guard let appNumber = try apps.identifier(of: app), let number = try self.topic(topic, app: appNumber)
            else { return false }
            let removed = try run("DELETE FROM topic_user WHERE user_id = ?1 AND topic = ?2", userID, number)
            try run(
                """
                UPDATE topic_subscription SET source = source & ~\(TopicSource.user)
                WHERE topic = ?2 AND device IN (SELECT id FROM device WHERE user_id = ?1)
                """, userID, number)
            try run(
                """
                DELETE FROM topic_subscription
                WHERE topic = ?2 AND source = 0 AND device IN (SELECT id FROM device WHERE user_id = ?1)
                """, userID, number)
            return removed > 0
        }
    }

    /// The topics of an app, by name.
    public func topics(app: String, after topic: String?, limit: Int) throws(RegistryError) -> [TopicCount] {
        try reading { () throws(RegistryError) in
            let statement = try statements.statement(
                """
                SELECT t.name,
                    (SELECT count(*) FROM topic_subscription u
                        WHERE u.topic = t.id AND u.source & \(TopicSource.device)) AS devices,
                    (SELECT count(*) FROM topic_user u WHERE u.topic = t.id) AS users
                FROM topic t WHERE t.app = (SELECT id FROM app WHERE name = ?1) AND t.name > ?2
                    AND (devices > 0 OR users > 0)
                ORDER BY t.name LIMIT ?3
                """)
            statement.bind(1, app)
            statement.bind(2, topic ?? "")
            statement.bind(3, Int64(max(limit, 0)))
            var topics: [TopicCount] = []
            try statement.forEachRow { row in
                topics.append(
                    TopicCount(topic: row.text(0), devices: Int(row.integer(1)), users: Int(row.integer(2))))
            }
            return topics
        }
    }

    // MARK: Erasing

    /// Erases everything of an identity.
    public func eraseIdentity(_ identityID: String) throws(RegistryError) -> Int {
        let opens = try opensToSubtract(
            ofDevicesWhere: "d.identity = (SELECT n.id FROM \(table: "identity") n WHERE n.name = \(identityID))")
        return try writing(durable: true) { () throws(RegistryError) in
            guard let identity = try identities.identifier(of: identityID) else { return 0 }
            for statement in opens { try run(statement) }
            let devices = try run("DELETE FROM device WHERE ?1 IS NOT NULL AND identity = ?2", identityID, identity)
            for sql in [
                "DELETE FROM dataset_subscription WHERE ?1 IS NOT NULL AND identity = ?2",
                "DELETE FROM dataset WHERE ?1 IS NOT NULL AND identity = ?2",
                "DELETE FROM identity WHERE name = ?1 AND id = ?2",
            ] { try run(sql, identityID, identity) }
            return devices
        }
    }

    /// Erases everything of a user.
    public func eraseUser(_ userID: String) throws(RegistryError) -> Int {
        let opens = try opensToSubtract(ofDevicesWhere: "d.user_id = \(userID)")
        return try writing(durable: true) { () throws(RegistryError) in
            for sql in ["DELETE FROM subscription WHERE user_id = ?1", "DELETE FROM topic_user WHERE user_id = ?1"] {
                try run(sql, userID, nil)
            }
            for statement in opens { try run(statement) }
            return try run("DELETE FROM device WHERE user_id = ?1", userID, nil)
        }
    }

    @discardableResult
    private func run(_ sql: String, _ name: String, _ number: Int64?) throws(RegistryError) -> Int {
        let statement = try statements.statement(sql)
        statement.bind(1, name)
        if let number { statement.bind(2, number) }
        return try statement.run()
    }
}
