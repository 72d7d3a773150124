public import PushCore

extension PostgresRegistry {
    /// Subscribes a device to a topic of its app.
    public func subscribe(_ deviceID: String, toTopic topic: String) throws(RegistryError) {
        try RegistryRules.checkTopic(topic)
        try writing(durable: true) { (transaction) throws(RegistryError) in
            let found = try transaction.run([StoringCalls.lockDevice(deviceID)])[0]
            guard found.count > 0 else { throw RegistryError.noDevice(deviceID) }
            try transaction.commit([
                StoringCalls.addTopic(topic, ofAppOf: deviceID),
                StoringCalls.addTopicSubscriptions([(deviceID, topic)]),
            ])
        }
    }

    /// Ends a topic subscription.
    public func unsubscribe(_ deviceID: String, fromTopic topic: String) throws(RegistryError) -> Bool {
        try writing(durable: true) { (transaction) throws(RegistryError) in
            let call = Call(
                """
                DELETE FROM topic_subscription u USING device d, topic t
                WHERE d.device_id = $1::text AND t.name = $2::text AND t.app = d.app
                    AND u.topic = t.id AND u.device = d.id
                """, [.text(deviceID), .text(topic)])
            return try transaction.commit([call])[0].affectedCount > 0
        }
    }
}
