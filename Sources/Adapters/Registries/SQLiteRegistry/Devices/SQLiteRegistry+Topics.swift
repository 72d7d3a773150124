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

    @discardableResult
    private func run(_ sql: String, _ name: String, _ number: Int64?) throws(RegistryError) -> Int {
        let statement = try statements.statement(sql)
        statement.bind(1, name)
        if let number { statement.bind(2, number) }
        return try statement.run()
    }
}
