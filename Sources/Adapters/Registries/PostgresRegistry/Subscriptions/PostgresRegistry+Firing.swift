public import ChangeEvents
import PostgreSQL
public import RegistryCore

extension PostgresRegistry {
    /// The badge of a row `d`, bounded, because another program may have written it.
    private static let badge = "least(greatest(d.badge, 0), \(SubscriptionRules.badgeMaximum))"

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
}
