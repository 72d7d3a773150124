/// A database of CloudKit, which decides who may see its records.
public enum DatabaseScope: Int64, Hashable, Sendable, CaseIterable {
    /// Everyone's.
    case `public` = 1
    /// One user's own.
    case `private` = 2
    /// Records that other users share with one user.
    case shared = 3
}

/// The subscription that caused a push, and what its dictionary `ck` says besides.
public struct SubscriptionNotice: Hashable, Sendable {
    /// The subscription's name; nil if there was no room for it.
    public let subscriptionID: String?
    /// The database that it watches.
    public let databaseScope: DatabaseScope
    /// The user whom the subscription belongs to; nil for one of a device, or if there was no room.
    public let ownerName: String?
    /// The container, for example `iCloud.com.example.chat`.
    public let containerID: String?
    /// Names the event: the same in all pushes that it caused.
    public let notificationID: String?
    /// Whether parts were left out because the push would have been too long: fetch the record.
    public let isPruned: Bool
}

/// A push about a record that a subscription of the type `query` matched.
public struct RecordPush: Hashable, Sendable {
    /// The subscription.
    public let subscription: SubscriptionNotice
    /// The name of the record; nil if there was no room for it.
    public let recordName: String?
    /// The zone of the record; nil if there was no room for it.
    public let zoneName: String?
    /// The user whose zone it is, `_defaultOwner` in a public database; nil if there was no room for it.
    public let zoneOwnerName: String?
    /// The fields that the subscription asked for (`additionalFields`); of a deleted record, as they were.
    ///
    /// Long texts are cut. Dates are milliseconds since 1970, places objects with `latitude` and `longitude`.
    public let fields: [String: PayloadValue]
}

/// A push about something in a zone (subscription type `zone`) or in a database (`database`): fetch the changes.
public struct ChangePush: Hashable, Sendable {
    /// The subscription.
    public let subscription: SubscriptionNotice
    /// The zone; nil for a database, or if there was no room for it.
    public let zoneName: String?
    /// The user whose zone it is; nil for a database, or if there was no room for it.
    public let zoneOwnerName: String?
}

extension SubscriptionNotice {
    /// Reads the dictionary `ck`, and in it what all kinds of subscriptions have.
    init(
        _ details: MemberReader, _ kind: MemberReader, _ problems: inout FoundationReader
    ) throws(PayloadError) {
        databaseScope = try kind.required("dbs", "1 (public), 2 (private) or 3 (shared)") {
            $0.integer.flatMap(DatabaseScope.init)
        }
        subscriptionID = kind.extraText("sid", &problems)
        ownerName = details.extraText("ckuserid", &problems)
        containerID = details.extraText("cid", &problems)
        notificationID = details.extraText("nid", &problems)
        isPruned = details.members["p"] != nil
    }
}

extension PushEvent {
    /// Reads the dictionary `ck`: exactly one of `qry`, `fet` and `met` stands in it.
    static func ofSubscription(
        _ details: MemberReader, _ problems: inout FoundationReader
    ) throws(PayloadError) -> PushEvent {
        let kinds = [try details.object("qry"), try details.object("fet"), try details.object("met")]
        guard let kind = kinds.compactMap(\.self).first, kinds.count(where: { $0 != nil }) == 1 else {
            throw PayloadError(.memberInvalid, PayloadProblem(details.path, "expected one of qry, fet and met"))
        }
        let subscription = try SubscriptionNotice(details, kind, &problems)
        let zoneName = kind.extraText("zid", &problems)
        let zoneOwnerName = kind.extraText("zoid", &problems)
        guard kinds[0] != nil else {
            let push = ChangePush(subscription: subscription, zoneName: zoneName, zoneOwnerName: zoneOwnerName)
            return kinds[1] != nil ? .zoneChanged(push) : .databaseChanged(push)
        }
        let reason = try kind.required("fo", "1 (created), 2 (updated) or 3 (deleted)") { value in
            value.integer.flatMap { (1...3).contains($0) ? $0 : nil }
        }
        let push = RecordPush(
            subscription: subscription, recordName: kind.extraText("rid", &problems), zoneName: zoneName,
            zoneOwnerName: zoneOwnerName, fields: kind.extra("af", "an object", &problems, \.object) ?? [:])
        switch reason {
        case 1: return .recordCreated(push)
        case 2: return .recordUpdated(push)
        default: return .recordDeleted(push)
        }
    }
}
