import JSON
import Predicates
import PushCore

extension SQLiteRegistry {
    /// Reads the columns of `SubscriptionRow.columns`.
    ///
    /// - Parameters:
    ///   - row: a statement that stands on a row.
    ///   - firstColumn: where the columns begin.
    /// - Returns: the subscription with its number.
    /// - Throws: `RegistryError` with `.corrupt` if the row makes no subscription.
    func decodeSubscription(_ row: Statement, firstColumn: Int32) throws(RegistryError) -> StoredSubscription {
        let number = row.integer(firstColumn)
        let owner: SubscriptionOwner? =
            row.optionalText(firstColumn + 2).map { .user($0) }
            ?? row.optionalText(firstColumn + 3).map { .device($0) }
        guard let owner, let kind = SubscriptionKind(registryNumber: row.integer(firstColumn + 5)),
            let database = RecordDatabase(registryNumber: row.integer(firstColumn + 6))
        else { throw corruptSubscription(number, "owner, kind or database") }
        let key = SubscriptionKey(
            app: try apps.name(of: row.integer(firstColumn + 1)), owner: owner,
            subscriptionID: row.text(firstColumn + 4))
        let subscription = RecordSubscription(
            key: key, kind: kind, database: database, zoneName: row.optionalText(firstColumn + 7),
            recordType: row.optionalText(firstColumn + 8),
            predicate: try decodePredicate(row.bytes(firstColumn + 9), subscription: number),
            firesOn: FiringOperations(rawValue: UInt8(truncatingIfNeeded: row.integer(firstColumn + 10))),
            firesOnce: row.integer(firstColumn + 11) != 0,
            notification: try decodeNotification(row.bytes(firstColumn + 12), subscription: number),
            savedAtMilliseconds: row.integer(firstColumn + 13))
        return StoredSubscription(row: number, subscription: subscription)
    }

    /// Reads the columns of `SubscriptionRow.wholeColumns`, which begin the row.
    ///
    /// - Parameter row: a statement that stands on a row.
    /// - Returns: the subscription with its number, and with the dictionary of CloudKit Web Services.
    /// - Throws: `RegistryError` with `.corrupt` if the row makes no subscription.
    func decodeWholeSubscription(_ row: Statement) throws(RegistryError) -> StoredSubscription {
        var stored = try decodeSubscription(row, firstColumn: 0)
        stored.subscription.cloudKitJSON = row.optionalText(SubscriptionRow.columnCount).map { Array($0.utf8) }
        return stored
    }

    /// Reads the columns of `SubscriptionRow.followedColumns`.
    ///
    /// - Parameters:
    ///   - row: a row of an answer.
    ///   - firstColumn: where the columns begin.
    /// - Returns: what is followed of the subscription.
    /// - Throws: `RegistryError` with `.corrupt` if the row makes no subscription.
    func decodeFollowed(_ row: Statement, firstColumn: Int32) throws(RegistryError) -> FollowedSubscription {
        let number = row.integer(firstColumn)
        guard let database = RecordDatabase(registryNumber: row.integer(firstColumn + 3))
        else { throw corruptSubscription(number, "database") }
        return FollowedSubscription(
            row: number, app: try apps.name(of: row.integer(firstColumn + 1)),
            recordType: row.optionalText(firstColumn + 5),
            predicate: try decodePredicate(row.bytes(firstColumn + 6), subscription: number), database: database,
            owner: row.optionalText(firstColumn + 2), zoneName: row.optionalText(firstColumn + 4),
            firesOn: FiringOperations(rawValue: UInt8(truncatingIfNeeded: row.integer(firstColumn + 7))))
    }

    private func decodePredicate(_ bytes: [UInt8], subscription: Int64) throws(RegistryError) -> Predicate {
        do throws(PredicateError) {
            return try Predicate(canonicalBytes: bytes)
        } catch {
            throw corruptSubscription(subscription, "predicate")
        }
    }

    private func decodeNotification(_ json: [UInt8], subscription: Int64) throws(RegistryError) -> NotificationInfo {
        // Nearly all subscriptions of an app say one of a few things.
        if let known = notifications[json] { return known }
        do {
            let info = try NotificationInfo(try notificationParser.parse(json), isLenient: true)
            if notifications.count >= Self.notificationsRemembered { notifications.removeAll() }
            notifications[json] = info
            return info
        } catch {
            throw corruptSubscription(subscription, "notification")
        }
    }

    private func corruptSubscription(_ number: Int64, _ what: String) -> RegistryError {
        RegistryError(
            .corrupt,
            RegistryError.corruptMessage(
                path: connection.path, reason: "row \(number) of the table subscription has a bad \(what)"))
    }
}
