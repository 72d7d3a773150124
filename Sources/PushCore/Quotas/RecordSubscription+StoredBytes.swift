extension RecordSubscription {
    /// What its definition counts against quotas, in bytes: the canonical form of its predicate, its notification as
    /// JSON, and what a client of CloudKit Web Services saved.
    public var storedBytes: Int {
        predicate.canonicalBytes.count + notification.json.count + (cloudKitJSON?.count ?? 0)
    }
}
