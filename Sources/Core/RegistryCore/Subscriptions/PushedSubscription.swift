public import ChangeEvents

/// The parts of a subscription to records that a push needs.
///
/// Its predicate is not part of it: the index that found the subscription has it, and reading it took a tenth of the
/// time of a record event. It is an object, because a batch hands it from the registry to each of its devices, and a
/// copy of its texts takes as long as finding it.
public final class PushedSubscription: Hashable, Sendable {
    /// The row: a number that no other subscription ever gets.
    public let row: Int64
    /// Its name.
    public let key: SubscriptionKey
    /// The kind of records or zones that it watches.
    public let kind: SubscriptionKind
    /// The database that it watches.
    public let database: RecordDatabase
    /// Whether it ends with its first push.
    public let firesOnce: Bool
    /// The content of its pushes.
    public let notification: NotificationInfo

    /// Creates it from its parts.
    public init(
        row: Int64, key: SubscriptionKey, kind: SubscriptionKind, database: RecordDatabase, firesOnce: Bool,
        notification: NotificationInfo
    ) {
        self.row = row
        self.key = key
        self.kind = kind
        self.database = database
        self.firesOnce = firesOnce
        self.notification = notification
    }

    /// Takes the parts from the whole.
    public convenience init(_ subscription: RecordSubscription, row: Int64) {
        self.init(
            row: row, key: subscription.key, kind: subscription.kind, database: subscription.database,
            firesOnce: subscription.firesOnce, notification: subscription.notification)
    }

    /// Whether all parts are the same.
    public static func == (left: PushedSubscription, right: PushedSubscription) -> Bool {
        left === right
            || (left.row == right.row && left.key == right.key && left.kind == right.kind
                && left.database == right.database && left.firesOnce == right.firesOnce
                && left.notification == right.notification)
    }

    /// Hashes the row and the name, which nearly always tell two of them apart.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(row)
        hasher.combine(key)
    }
}
