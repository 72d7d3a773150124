import JSON
import PushCore

/// The subscription dictionary of CloudKit Web Services.
enum CloudKitSubscription {
    private static let operations: [(name: String, firing: FiringOperations)] = [
        ("create", .created), ("update", .updated), ("delete", .deleted),
    ]

    // MARK: Reading

    /// Reads a dictionary.
    ///
    /// - Parameters:
    ///   - value: an object.
    ///   - key: its name and whose it is.
    ///   - database: the database that the request is about.
    ///   - savedAtMilliseconds: when it is.
    /// - Returns: the subscription; whether its parts go together is for the registry to say.
    /// - Throws: `CloudKitError` that says which member is wrong.
    static func read(
        _ value: JSONValue, key: SubscriptionKey, database: RecordDatabase, savedAtMilliseconds: Int64
    ) throws(CloudKitError) -> RecordSubscription {
        guard let type = value["subscriptionType"]?.string.flatMap({ SubscriptionKind(rawValue: $0) }) else {
            throw CloudKitError(.badRequest, "subscriptionType is query, zone or database.")
        }
        var subscription = RecordSubscription(
            key: key, kind: type, database: database, recordType: nil, savedAtMilliseconds: savedAtMilliseconds)
        subscription.notification = try notification(value["notificationInfo"])
        subscription.zoneName = try zoneName(value)
        guard type == .query else { return subscription }
        guard let query = value["query"], let recordType = query["recordType"]?.string else {
            throw CloudKitError(.badRequest, "query.recordType is missing.")
        }
        subscription.recordType = recordType
        if let filters = query["filterBy"] { subscription.predicate = try predicate(filters) }
        subscription.firesOn = try firesOn(value["firesOn"])
        subscription.firesOnce = try flag(value["firesOnce"], "firesOnce") ?? false
        let isZoneWide = try flag(value["zoneWide"], "zoneWide") ?? (subscription.zoneName == nil)
        subscription.zoneName = isZoneWide ? nil : subscription.zoneName ?? RecordChange.defaultZoneName
        return subscription
    }

    private static func notification(_ value: JSONValue?) throws(CloudKitError) -> NotificationInfo {
        guard let value, !value.isNull else { return NotificationInfo() }
        do throws(EventRejection) {
            return try NotificationInfo(value, isLenient: true)
        } catch {
            throw CloudKitError(.badRequest, error.message)
        }
    }

    private static func predicate(_ value: JSONValue) throws(CloudKitError) -> Predicate {
        do throws(PredicateError) {
            return try Predicate(filterBy: value, path: "query.filterBy")
        } catch {
            throw CloudKitError(.badRequest, error.description)
        }
    }

    private static func zoneName(_ value: JSONValue) throws(CloudKitError) -> String? {
        guard let zone = value["zoneID"], !zone.isNull else { return nil }
        guard let name = zone["zoneName"]?.string else {
            throw CloudKitError(.badRequest, "zoneID.zoneName is missing, or no string.")
        }
        return name
    }

    private static func firesOn(_ value: JSONValue?) throws(CloudKitError) -> FiringOperations {
        let problem = CloudKitError(
            .badRequest, "firesOn is an array of create, update and delete, with at least one of them.")
        guard let array = value?.array else { throw problem }
        var firesOn: FiringOperations = []
        for element in array {
            guard let known = operations.first(where: { $0.name == element.string }) else { throw problem }
            firesOn.insert(known.firing)
        }
        guard !firesOn.isEmpty else { throw problem }
        return firesOn
    }

    private static func flag(_ value: JSONValue?, _ name: StaticString) throws(CloudKitError) -> Bool? {
        guard let value, !value.isNull else { return nil }
        guard let flag = value.bool else { throw CloudKitError(.badRequest, "\(name) is true or false.") }
        return flag
    }

    // MARK: Writing

    /// Writes a dictionary; a predicate that CloudKit's filters cannot say stands as text in `query.predicate`.
    static func write(_ subscription: RecordSubscription, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("subscriptionID")
        writer.string(subscription.key.subscriptionID)
        writer.key("subscriptionType")
        writer.string(subscription.kind.rawValue)
        if let recordType = subscription.recordType, subscription.kind == .query {
            writeQuery(subscription, recordType, to: &writer)
        }
        if let zoneName = subscription.zoneName {
            writer.key("zoneID")
            writer.beginObject()
            writer.key("zoneName")
            writer.string(zoneName)
            writer.endObject()
        }
        writer.key("notificationInfo")
        subscription.notification.write(to: &writer)
        writer.endObject()
    }

    private static func writeQuery(
        _ subscription: RecordSubscription, _ recordType: String, to writer: inout JSONWriter
    ) {
        var filters = JSONWriter()
        let isFilter = subscription.predicate.writeFilterBy(to: &filters)
        writer.key("query")
        writer.beginObject()
        writer.key("recordType")
        writer.string(recordType)
        if isFilter {
            writer.key("filterBy")
            writer.raw(filters.bytes)
        } else {
            writer.key("predicate")
            writer.string(subscription.predicate.description)
        }
        writer.endObject()
        writer.key("firesOn")
        writer.beginArray()
        for operation in operations where subscription.firesOn.contains(operation.firing) {
            writer.string(operation.name)
        }
        writer.endArray()
        writer.key("firesOnce")
        writer.boolean(subscription.firesOnce)
        writer.key("zoneWide")
        writer.boolean(subscription.zoneName == nil)
    }
}
