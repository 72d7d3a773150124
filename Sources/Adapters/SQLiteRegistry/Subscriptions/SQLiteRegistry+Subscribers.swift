public import PushCore

extension SQLiteRegistry {
    /// Finds the devices of subscriptions, for a batch of events.
    public func resolveSubscribers(
        _ requests: [SubscriberRequest], limit: Int
    ) throws(RegistryError) -> [SubscriberPage] {
        try reading { () throws(RegistryError) in
            try SubscriberResolution(registry: self, requests: requests, limit: max(limit, 1)).resolve()
        }
    }
}
