public import PushCore

extension SQLiteRegistry {
    /// Subscribes a device to a topic of its app.
    public func subscribe(_ deviceID: String, toTopic topic: String) throws(RegistryError) {
        try RegistryRules.checkTopic(topic)
        try writing(durable: true) { () throws(RegistryError) in
            guard let device = try storedDevice(deviceID) else { throw RegistryError.noDevice(deviceID) }
            try addSubscription(device, toTopic: topic)
        }
    }

    /// Ends a topic subscription.
    public func unsubscribe(_ deviceID: String, fromTopic topic: String) throws(RegistryError) -> Bool {
        try writing(durable: true) { () throws(RegistryError) in
            guard let device = try storedDevice(deviceID), let number = try self.topic(topic, app: device.app)
            else { return false }
            // What its user wishes stays.
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
