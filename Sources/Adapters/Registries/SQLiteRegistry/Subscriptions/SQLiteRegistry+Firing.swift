public import ChangeEvents
public import RegistryCore

extension SQLiteRegistry {
    /// How long a subscription that has fired its only push is kept for a redelivery of the event, in milliseconds.
    private static let firedKeptMilliseconds: Int64 = 14 * 86_400_000

    /// Claims subscriptions that fire once for an event.
    public func claim(
        _ rows: [Int64], for event: EventDigest, nowMilliseconds: Int64
    ) throws(RegistryError) -> [Int64] {
        guard !rows.isEmpty else { return [] }
        return try writing(durable: true) { () throws(RegistryError) in
            try forgetFired(before: nowMilliseconds - Self.firedKeptMilliseconds)
            var claimed: [Int64] = []
            for row in rows where try claim(row, for: event, nowMilliseconds) { claimed.append(row) }
            return claimed
        }
    }

    private func claim(_ row: Int64, for event: EventDigest, _ nowMilliseconds: Int64) throws(RegistryError) -> Bool {
        let claiming = try statements.statement(
            "UPDATE subscription SET fired_event = ?2, fired_at = ?3 WHERE id = ?1 AND fired_event IS NULL")
        claiming.bind(1, row)
        claiming.bind(2, event.bytes)
        claiming.bind(3, nowMilliseconds)
        if try claiming.run() > 0 { return true }
        let asking = try statements.statement("SELECT 1 FROM subscription WHERE id = ?1 AND fired_event = ?2")
        asking.bind(1, row)
        asking.bind(2, event.bytes)
        return try asking.firstInteger() != nil
    }

    private func forgetFired(before milliseconds: Int64) throws(RegistryError) {
        let statement = try statements.statement(
            """
            DELETE FROM subscription WHERE id IN
                (SELECT id FROM subscription WHERE fired_event IS NOT NULL AND fired_at < ? LIMIT 100)
            """)
        statement.bind(1, milliseconds)
        try statement.run()
    }

    /// The subscriptions that an event has claimed.
    public func claimedSubscriptions(of event: EventDigest) throws(RegistryError) -> [Int64] {
        let statement = try statements.statement("SELECT id FROM subscription WHERE fired_event = ? ORDER BY id")
        statement.bind(1, event.bytes)
        var rows: [Int64] = []
        try statement.forEachRow { row in rows.append(row.integer(0)) }
        return rows
    }

    // MARK: Badges

    /// Adds one to the badges of devices, once for each event.
    public func countBadges(
        _ deviceIDs: [String], for event: EventDigest, isRepeated: Bool
    ) throws(RegistryError) -> [Int] {
        guard !deviceIDs.isEmpty else { return [] }
        guard !isRepeated else {
            var badges: [Int] = []
            for deviceID in deviceIDs { badges.append(max(1, try badge(of: deviceID) ?? 1)) }
            return badges
        }
        return try writing(durable: false) { () throws(RegistryError) in
            let statement = try statements.statement(Self.badgeCount)
            var badges: [Int] = []
            for deviceID in deviceIDs {
                statement.bind(1, deviceID)
                statement.bind(2, event.shortBytes)
                badges.append(Int(try statement.firstInteger() ?? 1))
            }
            return badges
        }
    }

    // SQLite treats joined blobs as text, of which `substr` would count characters.
    private static let badgeCount = """
        UPDATE device SET
            badge = iif(instr(badge_events, ?2) > 0, max(badge, 0),
                min(max(badge, 0) + 1, \(SubscriptionRules.badgeMaximum))),
            badge_events = iif(instr(badge_events, ?2) > 0, badge_events, substr(CAST(?2 || badge_events AS BLOB), 1,
                \(SubscriptionRules.badgeEventsMaximum * EventDigest.shortBytesCount)))
        WHERE device_id = ?1 RETURNING max(badge, 1)
        """

    /// Sets the badge of a device.
    public func setBadge(_ badge: Int, of deviceID: String) throws(RegistryError) -> Bool {
        try SubscriptionRules.check(badge: badge)
        return try writing(durable: true) { () throws(RegistryError) in
            let statement = try statements.statement("UPDATE device SET badge = ?2 WHERE device_id = ?1")
            statement.bind(1, deviceID)
            statement.bind(2, Int64(badge))
            return try statement.run() > 0
        }
    }

    /// The badge of a device.
    public func badge(of deviceID: String) throws(RegistryError) -> Int? {
        let statement = try statements.statement("SELECT min(max(badge, 0), 1000000) FROM device WHERE device_id = ?")
        statement.bind(1, deviceID)
        return try statement.firstInteger().map { Int($0) }
    }
}
