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
                StoringCalls.addTopicSubscriptions([(deviceID, topic)], limit: quotas[.topicsPerOwner]),
            ])
        }
    }

    /// Ends a topic subscription.
    public func unsubscribe(_ deviceID: String, fromTopic topic: String) throws(RegistryError) -> Bool {
        try writing(durable: true) { (transaction) throws(RegistryError) in
            // What its user wishes stays.
            try transaction.commit(StoringCalls.removeTopicSubscription(deviceID, topic))[0].affectedCount > 0
        }
    }
}
