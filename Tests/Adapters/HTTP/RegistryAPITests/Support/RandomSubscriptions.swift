import ChangeEvents
import JSON
import Predicates
import PushTestKit
import RegistryCore

/// Random subscriptions, as backends make them and as clients of CloudKit Web Services send them.
struct RandomSubscriptions {
    private var predicates: RandomPredicates

    init(seed: UInt64) { predicates = RandomPredicates(seed: seed) }

    private mutating func pick<Element>(_ list: [Element]) -> Element {
        list[Int.random(in: list.indices, using: &predicates.generator)]
    }

    private mutating func flag() -> Bool { Bool.random(using: &predicates.generator) }

    // MARK: Of backends

    /// A subscription to a database, which need not be one that CloudKit's JSON has words for.
    mutating func subscription(_ key: SubscriptionKey, _ database: RecordDatabase) throws -> RecordSubscription {
        let kinds: [RecordDatabase: [SubscriptionKind]] = [
            .public: [.query], .private: [.query, .zone, .database], .shared: [.database],
        ]
        let kind = pick(kinds[database] ?? [.query])
        var subscription = RecordSubscription(
            key: key, kind: kind, database: database, recordType: kind == .query || flag() ? "Löwe \"\\" : nil,
            firesOn: FiringOperations(rawValue: UInt8.random(in: 1...7, using: &predicates.generator)),
            firesOnce: flag(), notification: notification(), savedAtMilliseconds: 5)
        if kind == .zone || kind == .query && flag() { subscription.zoneName = pick(["notes", "_defaultZone", "ä/b"]) }
        if kind == .query { subscription.predicate = try predicates.predicate() }
        return subscription
    }

    private mutating func notification() -> NotificationInfo {
        var info = NotificationInfo()
        if flag() { info.alertBody = "{a} is \"new\" \u{1F981}" }
        if flag() { info.localizedAlert = .init(key: "K", argumentFields: flag() ? ["a", "b"] : []) }
        if flag() { info.title = "title" }
        if flag() { info.localizedSubtitle = .init(key: "S", argumentFields: ["c"]) }
        if flag() { info.soundName = "default" }
        if flag() { info.category = "CAT" }
        if flag() { info.collapseIDKey = "a" }
        if flag() { info.threadID = "{a}" }
        if flag() { info.additionalFields = ["a", "b"] }
        info.shouldBadge = flag()
        info.shouldSendContentAvailable = flag()
        info.shouldSendMutableContent = flag()
        return info
    }

    // MARK: Of clients

    private static let filters = [
        #"{"fieldName":"a","comparator":"EQUALS","fieldValue":{"type":"STRING","value":"Mei \u00e9"}}"#,
        #"{"comparator":"LESS_THAN","fieldName":"b","fieldValue":{"value":1.50,"type":"DOUBLE"}}"#,
        #"{"comparator":"IN","fieldName":"c","fieldValue":{"value":["b","a","b"],"type":"STRING"}}"#,
        #"{"comparator":"NEAR","fieldName":"place","distance":800,"fieldValue":{"value":"#
            + #"{"longitude":13.4,"latitude":52.5,"altitude":34},"type":"LOCATION"}}"#,
        #"{"comparator":"EQUALS","fieldName":"r","fieldValue":{"type":"REFERENCE","value":{"action":"NONE","#
            + #""recordName":"x","zoneID":{"zoneName":"notes","ownerRecordName":"_abc"}}}}"#,
        #"{"comparator":"GREATER_THAN_OR_EQUALS","systemFieldName":"createdTimestamp","fieldValue":"#
            + #"{"value":1700000000000,"type":"TIMESTAMP"}}"#,
        #"{"comparator":"CONTAINS_ANY_TOKENS","fieldValue":{"value":"löwe the tiger"}}"#,
        #"{"comparator":"NOT_LIST_CONTAINS_ALL","fieldName":"l","fieldValue":{"value":[2,1],"type":"INT64_LIST"}}"#,
    ]
    private static let notifications = [
        "null", "{}", #"{"alertBody":null,"shouldBadge":false,"soundName":""}"#,
        #"{"alertLocalizationArgs":["a","b"]}"#, #"{"desiredKeys":["z","a"],"category":"c","alertBody":"x"}"#,
        #"{"additionalFields":["a"],"desiredKeys":["a"],"collapseIDKey":"k","shouldSendContentAvailable":true}"#,
        #"{"shouldSendMutableContent":1,"titleLocalizationKey":"T","titleLocalizationArgs":[],"title":"t"}"#,
    ]
    private static let zones = [
        #"{"zoneName":"notes"}"#, #"{"ownerRecordName":"_defaultOwner","zoneName":"notes"}"#,
        #"{"zoneName":"_defaultZone","ownerName":"__defaultOwner__","zoneType":"DEFAULT_ZONE"}"#,
    ]

    /// The members of a dictionary in any order, for a database.
    mutating func dictionary(_ name: String, _ database: RecordDatabase) -> String {
        var members = [#""subscriptionID":"\#(name)""#, #""notificationInfo":\#(pick(Self.notifications))"#]
        if flag() { members.append(#""firesOnce":\#(flag())"#) }
        switch (database, flag()) {
        case (.shared, _): members.append(#""subscriptionType":"database","zoneID":null"#)
        case (.private, true): members.append(#""subscriptionType":"zone","zoneID":\#(pick(Self.zones))"#)
        default:
            members += [
                #""subscriptionType":"query","query":{\#(query())}"#,
                #""firesOn":\#(pick([#"["update","create"]"#, #"["delete"]"#, #"["create","create"]"#]))"#,
            ]
            if flag() { members.append(#""zoneWide":\#(flag())"#) }
            if flag() { members.append(#""zoneID":\#(pick(Self.zones))"#) }
        }
        return "{ " + members.shuffled(using: &predicates.generator).joined(separator: " , ") + " }"
    }

    private mutating func query() -> String {
        var members = [#""recordType":"Artwork""#]
        if flag() { members.append(#""sortBy":[{"fieldName":"a","ascending":false},{"systemFieldName":"b"}]"#) }
        if flag() {
            let filters = (0..<Int.random(in: 0...4, using: &predicates.generator)).map { _ in pick(Self.filters) }
            members.append(#""filterBy":[\#(filters.joined(separator: ","))]"#)
        }
        return members.shuffled(using: &predicates.generator).joined(separator: ",")
    }
}
