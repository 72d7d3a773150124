public import ChangeEvents
public import RegistryCore

extension PostgresRegistry {
    /// How long a subscription that has fired its only push is kept for a redelivery of the event, in milliseconds.
    private static let firedKeptMilliseconds: Int64 = 14 * 86_400_000
    /// The badge of a row `d`, bounded, because another program may have written it.
    private static let badge = "least(greatest(d.badge, 0), \(SubscriptionRules.badgeMaximum))"

    /// Claims subscriptions that fire once for an event.
    public func claim(
        _ rows: [Int64], for event: EventDigest, nowMilliseconds: Int64
    ) throws(RegistryError) -> [Int64] {
        guard !rows.isEmpty else { return [] }
        let claimed = try writing(durable: true) { (transaction) throws(RegistryError) in
            try transaction.commit([
                Call(
                    """
                    DELETE FROM apus.subscription WHERE id IN (
                        SELECT s.id FROM apus.subscription s WHERE s.fired_event IS NOT NULL AND s.fired_at < $1::bigint
                        LIMIT 100 FOR UPDATE SKIP LOCKED)
                    """, [.integer(nowMilliseconds - Self.firedKeptMilliseconds)]),
                Call(
                    """
                    SELECT s.id FROM apus.subscription s WHERE s.id = ANY ($1::bigint[]) ORDER BY s.id FOR NO KEY UPDATE
                    """, [.integers(rows)]),
                Call(
                    """
                    UPDATE apus.subscription SET fired_event = $2::bytea, fired_at = $3::bigint
                    WHERE id = ANY ($1::bigint[]) AND fired_event IS NULL
                    """, [.integers(rows), .bytes(event.bytes), .integer(nowMilliseconds)]),
                Call(
                    """
                    SELECT s.id FROM apus.subscription s
                    WHERE s.id = ANY ($1::bigint[]) AND s.fired_event = $2::bytea
                    """, [.integers(rows), .bytes(event.bytes)]),
            ])[3]
        }
        let isClaimed = Set(claimed.map { $0.integer(0) })
        return rows.filter { isClaimed.contains($0) }
    }

    /// The subscriptions that an event has claimed.
    public func claimedSubscriptions(of event: EventDigest) throws(RegistryError) -> [Int64] {
        let call = Call(
            "SELECT s.id FROM apus.subscription s WHERE s.fired_event = $1::bytea ORDER BY s.id", [.bytes(event.bytes)])
        return try ask([call])[0].map { $0.integer(0) }
    }

    // MARK: Badges

    /// Adds one to the badges of devices, once for each event.
    public func countBadges(
        _ deviceIDs: [String], for event: EventDigest, isRepeated: Bool
    ) throws(RegistryError) -> [Int] {
        guard !deviceIDs.isEmpty else { return [] }
        let names = Self.distinct(deviceIDs)
        let rows: Rows
        if isRepeated {
            let call = Call(
                """
                SELECT r.k, \(Self.badge) FROM unnest($1::text[]) WITH ORDINALITY r(name, k)
                JOIN apus.device d ON d.device_id = r.name
                """, [.texts(names)])
            rows = try ask([call])[0]
        } else {
            rows = try writing(durable: false) { (transaction) throws(RegistryError) in
                try transaction.commit([Self.addToBadges(names, event)])[0]
            }
        }
        var badges: [[UInt8]: Int] = [:]
        for row in rows { badges[Array(names[Int(row.integer(0)) - 1].utf8)] = Int(row.integer(1)) }
        return deviceIDs.map { deviceID in max(1, badges[Array(deviceID.utf8)] ?? 1) }
    }

    private static func addToBadges(_ names: [String], _ event: EventDigest) -> Call {
        let bytesMaximum = SubscriptionRules.badgeEventsMaximum * EventDigest.shortBytesCount
        return Call(
            """
            WITH r AS MATERIALIZED (
                SELECT d.id, x.k FROM unnest($1::text[]) WITH ORDINALITY x(name, k)
                JOIN apus.device d ON d.device_id = x.name ORDER BY d.id FOR NO KEY UPDATE OF d)
            UPDATE apus.device d SET
                badge = CASE WHEN position($2::bytea IN d.badge_events) > 0 THEN \(badge)
                    ELSE least(\(badge) + 1, \(SubscriptionRules.badgeMaximum)) END,
                badge_events = CASE WHEN position($2::bytea IN d.badge_events) > 0 THEN d.badge_events
                    ELSE substring($2::bytea || d.badge_events FROM 1 FOR \(bytesMaximum)) END
            FROM r WHERE d.id = r.id
            RETURNING r.k, d.badge
            """, [.texts(names), .bytes(event.shortBytes)])
    }

    /// Sets the badge of a device.
    public func setBadge(_ badge: Int, of deviceID: String) throws(RegistryError) -> Bool {
        try SubscriptionRules.check(badge: badge)
        return try writing(durable: true) { (transaction) throws(RegistryError) in
            let call = Call(
                "UPDATE apus.device SET badge = $2::bigint WHERE device_id = $1::text",
                [.text(deviceID), .integer(Int64(badge))])
            return try transaction.commit([call])[0].affectedCount > 0
        }
    }

    /// The badge of a device.
    public func badge(of deviceID: String) throws(RegistryError) -> Int? {
        let call = Call("SELECT \(Self.badge) FROM apus.device d WHERE d.device_id = $1::text", [.text(deviceID)])
        return try ask([call])[0].first.map { Int($0.integer(0)) }
    }
}
