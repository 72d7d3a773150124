extension RecordSubscription {
    /// What its definition counts against quotas, in bytes: the canonical form of its predicate and its notification as
    /// JSON.
    public var storedBytes: Int {
        predicate.canonicalBytes.count + notification.json.count + (cloudKitJSON?.count ?? 0)
    }
}
