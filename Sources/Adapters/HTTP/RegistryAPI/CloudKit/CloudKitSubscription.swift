import ChangeEvents
import Essentials
import JSON
import Notifications
import Predicates
import RegistryCore

/// The subscription dictionary of CloudKit Web Services, read strictly.
///
/// A registry keeps the meaning of a subscription, and the client's own dictionary (`cloudKitJSON`), which it returns:
/// the filters in their order and spelling, `sortBy`, the owner of a zone, the zones of references. A returned
/// dictionary that is sent back has the same meaning and is returned unchanged.
struct CloudKitSubscription {
    /// Its meaning.
    private(set) var subscription: RecordSubscription
    /// Whether it has a `query.predicate`, which only this server writes: CloudKit itself has no such member.
    private(set) var hasPredicateText = false

    private static let members: [StaticString] = [
        "subscriptionID", "subscriptionType", "query", "firesOn", "firesOnce", "zoneWide", "zoneID", "recordType",
        "notificationInfo",
    ]
    private static let zoneMembers: [StaticString] = ["zoneName", "ownerRecordName", "ownerName", "zoneType"]

    /// Reads a dictionary.
    ///
    /// - Parameters:
    ///   - value: an object.
    ///   - key: its name and whose it is.
    ///   - database: the database that the request is about.
    ///   - savedAtMilliseconds: when it is.
    /// - Throws: `CloudKitError` that says which member is wrong; whether the parts go together is for the registry to
    ///   say.
    init(
        _ value: JSONValue, key: SubscriptionKey, database: RecordDatabase, savedAtMilliseconds: Int64
    ) throws(CloudKitError) {
        let members = try CloudKitMembers.object(value, "subscription", Self.members)
        // Before anything of it is looked at closely.
        let bytes = value.minified.count
        guard bytes <= SubscriptionRules.cloudKitJSONBytesMaximum else {
            throw CloudKitError(
                .badRequest,
                "subscription has \(bytes) bytes; at most \(SubscriptionRules.cloudKitJSONBytesMaximum) are accepted.")
        }
        guard let kind = members["subscriptionType"]?.string.flatMap({ SubscriptionKind(rawValue: $0) }) else {
            throw CloudKitError(.badRequest, "subscriptionType is query, zone or database.")
        }
        subscription = RecordSubscription(
            key: key, kind: kind, database: database, recordType: nil, savedAtMilliseconds: savedAtMilliseconds)
        subscription.notification = try Self.notification(members.given("notificationInfo"))
        subscription.zoneName = try Self.zoneName(members.given("zoneID"))
        subscription.firesOnce = try Self.flag(members.given("firesOnce"), "firesOnce") ?? false
        if kind == .query {
            try readQuery(members)
        } else {
            try readWhole(members)
        }
        subscription.cloudKitJSON = Self.completed(members, subscription)
    }

    /// Reads the members of a query.
    private mutating func readQuery(_ members: JSONObject) throws(CloudKitError) {
        guard members.given("recordType") == nil else {
            throw CloudKitError(.badRequest, "recordType belongs into query.")
        }
        guard let value = members.given("query") else {
            throw CloudKitError(.badRequest, "query.recordType is missing.")
        }
        let query = try CloudKitMembers.object(value, "query", ["recordType", "filterBy", "sortBy", "predicate"])
        guard let recordType = query["recordType"]?.string else {
            throw CloudKitError(.badRequest, "query.recordType is missing.")
        }
        subscription.recordType = recordType
        guard query.given("sortBy").map({ $0.array != nil }) ?? true else {
            throw CloudKitError(.badRequest, "query.sortBy is no array.")
        }
        subscription.predicate = try predicate(query)
        subscription.firesOn = try Self.firesOn(members.given("firesOn"))
        let isZoneWide =
            try Self.flag(members.given("zoneWide"), "zoneWide") ?? (subscription.zoneName == nil)
        subscription.zoneName = isZoneWide ? nil : subscription.zoneName ?? FieldValue.defaultZoneName
    }

    /// Reads the members of a zone or a database; the record type and the operations are our own members.
    private mutating func readWhole(_ members: JSONObject) throws(CloudKitError) {
        guard members.given("query") == nil else {
            throw CloudKitError(.badRequest, "query belongs to the subscriptionType query.")
        }
        // It has no meaning for a zone or a database, but some clients write it for every kind.
        _ = try Self.flag(members.given("zoneWide"), "zoneWide")
        if let recordType = members.given("recordType") {
            guard let text = recordType.string else { throw CloudKitError(.badRequest, "recordType is no string.") }
            subscription.recordType = text
        }
        if let firesOn = members.given("firesOn") { subscription.firesOn = try Self.firesOn(firesOn) }
    }

    private mutating func predicate(_ query: JSONObject) throws(CloudKitError) -> Predicate {
        let filters = query.given("filterBy")
        do throws(PredicateError) {
            guard let text = query.given("predicate") else {
                guard let filters else { return .always }
                return try Predicate(filterBy: filters, path: "query.filterBy")
            }
            if filters == nil, let text = text.string {
                hasPredicateText = true
                return try Predicate(parsing: text)
            }
        } catch {
            throw CloudKitError(.badRequest, hasPredicateText ? "query.predicate: \(error)" : error.description)
        }
        throw CloudKitError(
            .badRequest, "query.predicate is no string, or there is a filterBy, which says what records must satisfy.")
    }

    // MARK: Parts

    private static func notification(_ value: JSONValue?) throws(CloudKitError) -> NotificationInfo {
        guard let value else { return NotificationInfo() }
        do throws(EventRejection) {
            return try NotificationInfo(cloudKit: value)
        } catch {
            throw CloudKitError(.badRequest, error.message)
        }
    }

    private static func zoneName(_ value: JSONValue?) throws(CloudKitError) -> String? {
        guard let value else { return nil }
        let zone = try CloudKitMembers.object(value, "zoneID", zoneMembers)
        guard let name = zone["zoneName"]?.string else {
            throw CloudKitError(.badRequest, "zoneID.zoneName is missing, or no string.")
        }
        for member in zoneMembers {
            guard zone.given(member).map({ $0.string != nil }) ?? true else {
                throw CloudKitError(.badRequest, "zoneID.\(member) is no string.")
            }
        }
        return name
    }

    private static func firesOn(_ value: JSONValue?) throws(CloudKitError) -> FiringOperations {
        let problem = CloudKitError(
            .badRequest, "firesOn is an array of create, update and delete, with at least one of them.")
        guard let array = value?.array else { throw problem }
        var firesOn: FiringOperations = []
        for element in array {
            guard let known = operations.first(where: { element.isString($0.name) }) else { throw problem }
            firesOn.insert(known.firing)
        }
        guard !firesOn.isEmpty else { throw problem }
        return firesOn
    }

    private static func flag(_ value: JSONValue?, _ name: StaticString) throws(CloudKitError) -> Bool? {
        guard let value else { return nil }
        guard let flag = value.bool else { throw CloudKitError(.badRequest, "\(name) is true or false.") }
        return flag
    }
}

/// Holds the objects of a request to the members that they may have.
///
/// Unknown members are refused and never ignored: a client that reads a subscription, changes a part of it and sends it
/// back must not lose the rest.
enum CloudKitMembers {
    /// Checks an object.
    ///
    /// - Parameters:
    ///   - value: the value, which should be an object.
    ///   - path: its name in messages.
    ///   - names: the members that it may have, each once.
    /// - Returns: the object.
    /// - Throws: `CloudKitError` that names the member.
    static func object(
        _ value: JSONValue, _ path: StaticString, _ names: [StaticString]
    ) throws(CloudKitError) -> JSONObject {
        guard let object = value.object else { throw CloudKitError(.badRequest, "\(path) is not an object.") }
        if let name = object.firstMember(notAmong: names)?.key {
            let excerpt = name.shortened(bytesMaximum: 80).printable()
            let known = names.map { "\($0)" }.joined(separator: ", ")
            throw CloudKitError(
                .badRequest, "\(path) has the member \"\(excerpt)\", which is not known here; known are \(known).")
        }
        return object
    }
}

extension JSONObject {
    /// The member of that key, unless it is `null`.
    func given(_ key: StaticString) -> JSONValue? {
        guard let value = self[key], !value.isNull else { return nil }
        return value
    }
}
