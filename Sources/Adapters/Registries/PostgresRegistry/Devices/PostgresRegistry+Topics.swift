public import RegistryCore
import RegistrySQL

extension PostgresRegistry {
    /// Subscribes a device to a topic of its app.
    public func subscribe(_ deviceID: String, toTopic topic: String) throws(RegistryError) {
        try RegistryRules.checkTopic(topic)
        try writing(durable: true) { (transaction) throws(RegistryError) in
            let found = try transaction.run([StoringCalls.lockDevice(deviceID)])[0]
            guard found.count > 0 else { throw RegistryError.noDevice(deviceID) }
            try transaction.commit([
                StoringCalls.addTopic(topic, ofAppOf: deviceID),
                StoringCalls.addTopicSubscriptions(
                    [DeviceSubscription(deviceID, to: topic)], limit: quotas[.topicsPerOwner]),
            ])
        }
    }
}
