public import ChangeEvents
public import RegistryCore

extension SubscriptionRegistry where Self: SQLStore {
    /// Claims subscriptions that fire once for an event.
    public func claim(
        _ rows: [Int64], for event: EventDigest, nowMilliseconds: Int64
    ) throws(RegistryError) -> [Int64] {
        guard !rows.isEmpty else { return [] }
        // A subscription that has fired its only push is kept for a redelivery of the event: 14 days.
        let oldest = nowMilliseconds - 14 * 86_400_000
        return try write(durable: true) { (transaction) throws(RegistryError) in
            var claimed: Set<Int64> = []
            try transaction.commit([
                """
                DELETE FROM \(table: "subscription") WHERE id IN (
                    SELECT s.id FROM \(table: "subscription") s
                    WHERE s.fired_event IS NOT NULL AND s.fired_at < \(oldest)
                    LIMIT 100\(postgres: " FOR UPDATE SKIP LOCKED"))
                """,
                """
                SELECT s.id FROM \(table: "subscription") s WHERE s.id \(among: rows)
                \(postgres: "ORDER BY s.id FOR NO KEY UPDATE")
                """,
                """
                UPDATE \(table: "subscription") SET fired_event = \(event.bytes), fired_at = \(nowMilliseconds)
                WHERE id \(among: rows) AND fired_event IS NULL
                """,
                """
                SELECT s.id FROM \(table: "subscription") s
                WHERE s.id \(among: rows) AND s.fired_event = \(event.bytes)
                """,
            ]) { index, row in
                if index == 3 { claimed.insert(row.integer(0)) }
            }
            return rows.filter { claimed.contains($0) }
        }
    }

    /// The subscriptions that an event has claimed.
    public func claimedSubscriptions(of event: EventDigest) throws(RegistryError) -> [Int64] {
        try ask(
            "SELECT s.id FROM \(table: "subscription") s WHERE s.fired_event = \(event.bytes) ORDER BY s.id"
        ) { $0.integer(0) }
    }

    /// Sets the badge of a device.
    public func setBadge(_ badge: Int, of deviceID: String) throws(RegistryError) -> Bool {
        try SubscriptionRules.check(badge: badge)
        return try write(
            durable: true, "UPDATE \(table: "device") SET badge = \(Int64(badge)) WHERE device_id = \(deviceID)") > 0
    }

    /// The badge of a device.
    public func badge(of deviceID: String) throws(RegistryError) -> Int? {
        try ask(.badge(of: deviceID)) { Int(badge: $0) }.first
    }
}

extension SQLStatement {
    /// The badge of a device.
    static func badge(of deviceID: String) -> SQLStatement {
        "SELECT d.badge FROM \(table: "device") d WHERE d.device_id = \(deviceID)"
    }
}

extension Int {
    /// Reads a badge, bounded, because another program may have written it.
    init(badge row: some RowReader) {
        self = Swift.min(Swift.max(Int(clamping: row.integer(0)), 0), SubscriptionRules.badgeMaximum)
    }
}
