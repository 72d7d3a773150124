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
            let statement = try statements.statement("DELETE FROM topic_subscription WHERE topic = ? AND device = ?")
            statement.bind(1, number)
            statement.bind(2, device.row)
            return try statement.run() > 0
        }
    }
}
