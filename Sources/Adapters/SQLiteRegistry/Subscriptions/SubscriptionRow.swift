/// The columns of `subscription s`, its device's `o`, that `SQLiteRegistry.decodeSubscription` reads.
enum SubscriptionRow {
    static let columns = """
        s.id, s.app, s.user_id, o.device_id, s.subscription_id, s.kind, s.database, s.zone, s.record_type, \
        s.predicate, s.fires_on, s.fires_once, s.notification, s.saved_at, s.fired_event IS NOT NULL
        """
    /// The join that `o` comes from.
    static let join = "LEFT JOIN device o ON o.id = s.device"
    /// How many columns there are; who asks for the dictionary of CloudKit Web Services, has it behind them.
    static let columnCount: Int32 = 15
    /// The columns that `SQLiteRegistry.decodeWholeSubscription` reads.
    static let wholeColumns = "\(columns), s.cloudkit_json"
    /// How many columns those are.
    static let wholeColumnCount = columnCount + 1
    /// The columns that `SQLiteRegistry.decodeFollowed` reads.
    static let followedColumns = """
        s.id, s.app, s.user_id, s.database, s.zone, s.record_type, s.predicate, s.fires_on, s.fired_event IS NOT NULL
        """
    /// How many of those there are.
    static let followedColumnCount: Int32 = 9
}
