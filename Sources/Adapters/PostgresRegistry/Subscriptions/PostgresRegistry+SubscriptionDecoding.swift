import JSON
import Predicates
import PushCore

extension PostgresRegistry {
    /// Reads the columns of `SubscriptionCalls.columns`.
    ///
    /// - Parameters:
    ///   - rows: an answer.
    ///   - row: which row.
    ///   - first: where the columns begin.
    /// - Returns: the subscription with its number.
    /// - Throws: `RegistryError` with `.corrupt` if the row makes no subscription.
    func decodeSubscription(_ rows: Rows, _ row: Int, from first: Int32 = 0) throws(RegistryError) -> StoredSubscription
    {
        let number = rows.integer(row, first)
        let owner: SubscriptionOwner? =
            rows.optionalText(row, first + 2).map { .user($0) } ?? rows.optionalText(row, first + 3).map { .device($0) }
        let kindNumber = rows.integer(row, first + 5)
        let databaseNumber = rows.integer(row, first + 6)
        guard let owner, let kind = SubscriptionKind.allCases.first(where: { $0.cloudKitNumber == kindNumber }),
            let database = RecordDatabase.allCases.first(where: { $0.cloudKitNumber == databaseNumber })
        else { throw corruptSubscription(number, "owner, kind or database") }
        let key = SubscriptionKey(
            app: rows.text(row, first + 1), owner: owner, subscriptionID: rows.text(row, first + 4))
        let subscription = RecordSubscription(
            key: key, kind: kind, database: database, zoneName: rows.optionalText(row, first + 7),
            recordType: rows.optionalText(row, first + 8),
            predicate: try decodePredicate(Array(rows.bytes(row, first + 9)), subscription: number),
            firesOn: FiringOperations(rawValue: UInt8(truncatingIfNeeded: rows.integer(row, first + 10))),
            firesOnce: rows.integer(row, first + 11) != 0,
            notification: try decodeNotification(Array(rows.bytes(row, first + 12)), subscription: number),
            savedAtMilliseconds: rows.integer(row, first + 13))
        return StoredSubscription(row: number, subscription: subscription)
    }

    /// Reads the columns of `SubscriptionCalls.wholeColumns`, which begin the row.
    ///
    /// - Parameters:
    ///   - rows: an answer.
    ///   - row: which row.
    /// - Returns: the subscription with its number, and with the dictionary of CloudKit Web Services.
    /// - Throws: `RegistryError` with `.corrupt` if the row makes no subscription.
    func decodeWholeSubscription(_ rows: Rows, _ row: Int) throws(RegistryError) -> StoredSubscription {
        var stored = try decodeSubscription(rows, row)
        stored.subscription.cloudKitJSON = rows.optionalText(row, 14).map { Array($0.utf8) }
        return stored
    }

    /// Reads the columns of `SubscriptionCalls.followedColumns`.
    ///
    /// - Parameters:
    ///   - rows: an answer.
    ///   - row: which row.
    ///   - first: where the columns begin.
    /// - Returns: what is followed of the subscription.
    /// - Throws: `RegistryError` with `.corrupt` if the row makes no subscription.
    func decodeFollowed(_ rows: Rows, _ row: Int, from first: Int32 = 0) throws(RegistryError) -> FollowedSubscription {
        let number = rows.integer(row, first)
        let databaseNumber = rows.integer(row, first + 3)
        guard let database = RecordDatabase.allCases.first(where: { $0.cloudKitNumber == databaseNumber })
        else { throw corruptSubscription(number, "database") }
        do throws(PredicateError) {
            return try FollowedSubscription(
                row: number, app: rows.text(row, first + 1), recordType: rows.optionalText(row, first + 5),
                canonicalBytes: UnsafeRawBufferPointer(rows.bytes(row, first + 6)), database: database,
                owner: database == .public ? nil : rows.optionalText(row, first + 2),
                zoneName: rows.optionalText(row, first + 4),
                firesOn: FiringOperations(rawValue: UInt8(truncatingIfNeeded: rows.integer(row, first + 7))))
        } catch {
            throw corruptSubscription(number, "predicate")
        }
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
        RegistryError.corruptRow(place, "row \(number) of the table subscription has a bad \(what)")
    }
}
