import JSON
import Predicates
import RegistryCore

extension CloudKitSubscription {
    /// The operations that a subscription fires on, with the web services' names.
    static let operations: [(name: StaticString, firing: FiringOperations)] = [
        ("create", .created), ("update", .updated), ("delete", .deleted),
    ]

    /// Writes the dictionary of a subscription: the client's own if such a client saved it.
    static func write(_ subscription: RecordSubscription, to writer: inout JSONWriter) {
        writer.raw(subscription.cloudKitJSON ?? dictionary(of: subscription, nil))
    }

    /// The client's dictionary with its omitted members, each in its place and in the client's own words.
    static func completed(_ members: JSONObject, _ subscription: RecordSubscription) -> [UInt8] {
        dictionary(of: subscription, members)
    }

    /// The dictionary of a subscription.
    ///
    /// A predicate that CloudKit's filters cannot express stands as text in `query.predicate`. The record type and the
    /// operations of a zone or a database stand beside the rest, unless they are every type and every change. CloudKit
    /// itself has none of these.
    ///
    /// - Parameters:
    ///   - subscription: its meaning.
    ///   - members: the client's own members, all of which are kept; nil if there are none.
    /// - Returns: an object as JSON.
    private static func dictionary(of subscription: RecordSubscription, _ members: JSONObject?) -> [UInt8] {
        var writer = JSONWriter()
        func write(_ key: StaticString, _ isWritten: Bool = true, _ standard: (inout JSONWriter) -> Void) {
            let value = members?.given(key)
            guard value != nil || isWritten else { return }
            writer.key(key)
            if let value { writer.value(value) } else { standard(&writer) }
        }
        let isQuery = subscription.kind == .query
        writer.beginObject()
        // Not the client's: the name may be one that it was given here.
        writer.member("subscriptionID", subscription.key.subscriptionID)
        write("subscriptionType") { $0.string(subscription.kind.rawValue) }
        write("query", isQuery) { writeQuery(subscription, to: &$0) }
        write("recordType", !isQuery && subscription.recordType != nil) { $0.string(subscription.recordType ?? "") }
        write("firesOn", isQuery || subscription.firesOn != .all) { writeFiresOn(subscription, to: &$0) }
        write("firesOnce", isQuery || subscription.firesOnce) { $0.boolean(subscription.firesOnce) }
        write("zoneWide", isQuery) { $0.boolean(subscription.zoneName == nil) }
        write("zoneID", subscription.zoneName != nil) { writer in
            writer.beginObject()
            writer.member("zoneName", subscription.zoneName ?? FieldValue.defaultZoneName)
            writer.endObject()
        }
        write("notificationInfo") { subscription.notification.write(to: &$0) }
        writer.endObject()
        return writer.bytes
    }

    private static func writeQuery(_ subscription: RecordSubscription, to writer: inout JSONWriter) {
        var filters = JSONWriter()
        let isFilter = subscription.predicate.writeFilterBy(to: &filters)
        writer.beginObject()
        writer.member("recordType", subscription.recordType ?? "")
        if isFilter {
            writer.key("filterBy")
            writer.raw(filters.bytes)
        } else {
            writer.member("predicate", subscription.predicate.description)
        }
        writer.endObject()
    }

    private static func writeFiresOn(_ subscription: RecordSubscription, to writer: inout JSONWriter) {
        writer.beginArray()
        for operation in operations where subscription.firesOn.contains(operation.firing) {
            writer.string("\(operation.name)")
        }
        writer.endArray()
    }
}
