public import ChangeEvents
import JSON
public import Predicates
public import RegistryCore

extension RecordSubscription {
    /// The columns that saving writes, those aside that hold its key.
    public static let storedColumns: [StoredColumn<RecordSubscription>] = [
        .integer("kind") { Int64($0.kind.cloudKitNumber) }, .integer("database") { Int64($0.database.cloudKitNumber) },
        .text("zone") { $0.zoneName }, .text("record_type") { $0.recordType },
        .bytes("predicate") { $0.predicate.canonicalBytes }, .integer("fires_on") { Int64($0.firesOn.rawValue) },
        .truth("fires_once") { $0.firesOnce },
        .text("notification") { String(decoding: $0.notification.json, as: UTF8.self) },
        .integer("saved_at") { $0.savedAtMilliseconds }, .truth("is_silent") { !$0.notification.isVisible },
        .text("cloudkit_json") { $0.cloudKitJSON.map { String(decoding: $0, as: UTF8.self) } },
    ]
}

/// Reads rows of subscriptions to records; it remembers what notifications say, because nearly all subscriptions of an
/// app say one of a few things.
public final class SubscriptionDecoder {
    /// How many different notifications are remembered.
    private static let notificationsMaximum = 4_096

    private let parser = JSONParser()
    private var notifications: [[UInt8]: NotificationInfo] = [:]

    /// Creates a decoder that remembers nothing yet.
    public init() {}

    /// The columns of `subscription s` and its device `o` that `pushed(_:from:app:)` reads.
    ///
    /// - Parameter app: the column that identifies the app.
    /// - Returns: the columns.
    public static func pushedColumns(app: String) -> String {
        """
        s.id, \(app), s.user_id, o.device_id, s.subscription_id, s.kind, s.database, s.fires_once, s.notification
        """
    }

    /// The same columns and the others of a subscription, which `whole(_:app:)` reads.
    public static func wholeColumns(app: String) -> String {
        "\(pushedColumns(app: app)), s.zone, s.record_type, s.predicate, s.fires_on, s.saved_at, s.cloudkit_json"
    }
    /// How many columns those are.
    public static let wholeColumnCount: Int32 = 15

    /// The columns of `subscription s` that `followed(_:from:app:)` reads.
    public static func followedColumns(app: String) -> String {
        "s.id, \(app), s.user_id, s.database, s.zone, s.record_type, s.predicate, s.fires_on"
    }

    /// Reads the part of a subscription that its pushes are made of.
    ///
    /// - Parameters:
    ///   - row: the row.
    ///   - first: where `pushedColumns` begin.
    ///   - app: its app.
    /// - Returns: the part.
    /// - Throws: `RegistryError` with `.corrupt` if the row makes no subscription.
    @inlinable
    public func pushed(
        _ row: some RowReader, from first: Int32 = 0, app: String
    ) throws(RegistryError) -> PushedSubscription {
        let number = row.integer(first)
        let owner: SubscriptionOwner? =
            row.optionalText(first + 2).map { .user($0) } ?? row.optionalText(first + 3).map { .device($0) }
        guard let owner, let kind = SubscriptionKind(cloudKitNumber: row.integer(first + 5)),
            let database = RecordDatabase(cloudKitNumber: row.integer(first + 6))
        else { throw row.corrupt(Self.bad("owner, kind or database", number)) }
        guard let notification = self.notification(row.bytes(first + 8))
        else { throw row.corrupt(Self.bad("notification", number)) }
        return PushedSubscription(
            row: number, key: SubscriptionKey(app: app, owner: owner, subscriptionID: row.text(first + 4)), kind: kind,
            database: database, firesOnce: row.integer(first + 7) != 0, notification: notification)
    }

    /// Reads a subscription.
    ///
    /// - Parameters:
    ///   - row: the row, which begins with `wholeColumns`.
    ///   - app: its app.
    /// - Returns: the subscription with its number.
    /// - Throws: `RegistryError` with `.corrupt` if the row makes no subscription.
    public func whole(_ row: some RowReader, app: String) throws(RegistryError) -> StoredSubscription {
        let pushed = try pushed(row, app: app)
        guard let predicate = try? Predicate(canonicalBytes: row.bytes(11))
        else { throw row.corrupt(Self.bad("predicate", pushed.row)) }
        var subscription = RecordSubscription(
            key: pushed.key, kind: pushed.kind, database: pushed.database, zoneName: row.optionalText(9),
            recordType: row.optionalText(10), predicate: predicate,
            firesOn: FiringOperations(rawValue: UInt8(truncatingIfNeeded: row.integer(12))),
            firesOnce: pushed.firesOnce, notification: pushed.notification, savedAtMilliseconds: row.integer(13))
        subscription.cloudKitJSON = row.optionalText(14).map { Array($0.utf8) }
        return StoredSubscription(row: pushed.row, subscription: subscription)
    }

    /// Reads the followed parts of a subscription.
    ///
    /// - Parameters:
    ///   - row: the row.
    ///   - first: where `followedColumns` begin.
    ///   - app: its app.
    /// - Returns: the followed parts.
    /// - Throws: `RegistryError` with `.corrupt` if the row makes no subscription.
    @inlinable
    public static func followed(
        _ row: some RowReader, from first: Int32 = 0, app: String
    ) throws(RegistryError) -> FollowedSubscription {
        let number = row.integer(first)
        guard let database = RecordDatabase(cloudKitNumber: row.integer(first + 3))
        else { throw row.corrupt(bad("database", number)) }
        // In the public database the owner's name does not matter.
        let owner = database == .public ? nil : row.optionalText(first + 2)
        do throws(PredicateError) {
            return try row.withBytes(first + 6) { (bytes) throws(PredicateError) in
                try FollowedSubscription(
                    row: number, app: app, recordType: row.optionalText(first + 5), canonicalBytes: bytes,
                    database: database, owner: owner, zoneName: row.optionalText(first + 4),
                    firesOn: FiringOperations(rawValue: UInt8(truncatingIfNeeded: row.integer(first + 7))))
            }
        } catch {
            throw row.corrupt(bad("predicate", number))
        }
    }

    @usableFromInline
    static func bad(_ what: String, _ number: Int64) -> String {
        "row \(number) of the table subscription has a bad \(what)"
    }

    /// The content of a notification; nil if it is none.
    @usableFromInline
    func notification(_ json: [UInt8]) -> NotificationInfo? {
        if let known = notifications[json] { return known }
        guard let value = try? parser.parse(json), let info = try? NotificationInfo(value, isLenient: true)
        else { return nil }
        if notifications.count >= Self.notificationsMaximum { notifications.removeAll() }
        notifications[json] = info
        return info
    }
}
