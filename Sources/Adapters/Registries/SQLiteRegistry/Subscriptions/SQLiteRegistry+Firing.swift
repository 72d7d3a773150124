public import ChangeEvents
public import RegistryCore
import RegistrySQL

extension SQLiteRegistry {
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
}
