public import PushCore

extension PostgresRegistry {
    /// Finds the devices of subscriptions, for a batch of events.
    public func resolveSubscribers(
        _ requests: [SubscriberRequest], limit: Int
    ) throws(RegistryError) -> [SubscriberPage] {
        guard !requests.isEmpty else { return [] }
        return try SubscriberResolution(registry: self, requests: requests, limit: limit).resolve()
    }
}
