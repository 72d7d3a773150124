import ChangeEvents
import Essentials
public import JSON
public import Notifications
public import Predicates

/// The JSON of a subscription, as the command line and the registry's own API read and write it:
///
/// | name | value |
/// |---|---|
/// | `subscriptionId`, `app` | strings |
/// | `userId` or `deviceId` | whose it is |
/// | `type` | `query` (if it is left out), `zone` or `database` |
/// | `database` | `public` (if it is left out), `private` or `shared` |
/// | `recordType`, `zoneName` | strings |
/// | `predicate` | text: `artist = "Mei Chen" AND price <= 20` |
/// | `filterBy` | instead of it, CloudKit's array of filters |
/// | `filterGroup` | instead of it, AppSync's array of groups of filters |
/// | `filter` | instead of it, an Amplify filter: `{"rating":{"ge":4},"or":[…]}` |
/// | `firesOn` | an array of `created`, `updated`, `deleted`; all of them if it is left out |
/// | `firesOnce` | false if it is left out |
/// | `notificationInfo` | what the pushes say (`NotificationInfo`) |
extension RecordSubscription {
    /// Reads a subscription.
    ///
    /// - Parameters:
    ///   - value: an object.
    ///   - path: its name in messages.
    ///   - key: the name, if it stands elsewhere; then the object need not say it.
    ///   - savedAtMilliseconds: when it is.
    /// - Throws: `EventRejection` with `invalidField` or `missingField`.
    public init(
        _ value: JSONValue, path: String = "subscription", key: SubscriptionKey? = nil, savedAtMilliseconds: Int64
    ) throws(EventRejection) {
        let fields = try FieldReader(value, path: path)
        var notification = NotificationInfo()
        if let info = fields.value("notificationInfo") {
            notification = try NotificationInfo(info, path: fields.path("notificationInfo"))
        }
        let name: SubscriptionKey
        if let key { name = key } else { name = try SubscriptionKey(fields) }
        self.init(
            key: name,
            kind: try fields.choice("type", of: SubscriptionKind.self) ?? .query,
            database: try fields.choice("database", of: RecordDatabase.self) ?? .public,
            zoneName: try fields.text("zoneName", .name), recordType: try fields.text("recordType", .name),
            predicate: try Self.predicate(fields), firesOn: try Self.firesOn(fields),
            firesOnce: try fields.flag("firesOnce"), notification: notification,
            savedAtMilliseconds: savedAtMilliseconds)
    }

    /// Writes the subscription, with its predicate as text.
    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("subscriptionId", key.subscriptionID)
        writer.member("app", key.app)
        switch key.owner {
        case .user(let user):
            writer.member("userId", user)
        case .device(let device):
            writer.member("deviceId", device)
        }
        writer.member("type", kind.rawValue)
        writer.member("database", database.rawValue)
        writer.member("recordType", recordType)
        writer.member("zoneName", zoneName)
        writer.member("predicate", predicate.description)
        writer.array("firesOn", texts: firesOn.names)
        writer.member("firesOnce", firesOnce)
        writer.key("notificationInfo")
        notification.write(to: &writer)
        writer.member("savedAt", WallTime.text(milliseconds: savedAtMilliseconds))
        writer.endObject()
    }

    private static func firesOn(_ fields: FieldReader) throws(EventRejection) -> FiringOperations {
        guard let names = try fields.texts("firesOn") else { return .all }
        let expected = "an array of created, updated and deleted, at least one of them"
        guard let operations = FiringOperations(names: names), !operations.isEmpty else {
            throw EventRejection(.invalidField, "\(fields.path("firesOn")) must be \(expected)")
        }
        return operations
    }

    private static func predicate(_ fields: FieldReader) throws(EventRejection) -> Predicate {
        let languages: [StaticString] = ["predicate", "filterBy", "filterGroup", "filter"]
        let given = languages.filter { fields.value($0) != nil }
        guard given.count <= 1 else {
            let names = given.map { "\($0)" }.joined(separator: ", ")
            throw EventRejection(.invalidField, "\(fields.path) has \(names); it must have one of them at most")
        }
        do throws(PredicateError) {
            if let value = fields.value("filterBy") {
                return try Predicate(filterBy: value, path: fields.path("filterBy"))
            }
            if let value = fields.value("filterGroup") {
                return try Predicate(filterGroup: value, path: fields.path("filterGroup"))
            }
            if let value = fields.value("filter") {
                return try Predicate(filterInput: value, path: fields.path("filter"))
            }
        } catch {
            throw EventRejection(.invalidField, error.description)
        }
        guard let text = try fields.text("predicate") else { return .always }
        do throws(PredicateError) {
            return try Predicate(parsing: text)
        } catch {
            throw EventRejection(.invalidField, "\(fields.path("predicate")), \(error.description)")
        }
    }
}

extension SubscriptionKey {
    /// Reads the names of a subscription.
    init(_ fields: FieldReader) throws(EventRejection) {
        let user = try fields.text("userId", .name)
        let device = try fields.text("deviceId", .name)
        let owner: SubscriptionOwner
        switch (user, device) {
        case (let user?, nil): owner = .user(user)
        case (nil, let device?): owner = .device(device)
        case (nil, nil): throw fields.missing("userId", "the user whose devices are told; or deviceId, for one device")
        default:
            throw EventRejection(.invalidField, "\(fields.path) has userId and deviceId; it must have one of them")
        }
        self.init(
            app: try fields.requiredText("app", .app), owner: owner,
            subscriptionID: try fields.requiredText("subscriptionId", .name))
    }
}

extension FiringOperations {
    /// The names of its members: `created`, `updated`, `deleted`.
    public var names: [String] {
        RecordChange.Operation.allCases.filter { contains($0.firing) }.map(\.rawValue)
    }

    /// Reads names, also as CloudKit has them: `create`, `update`, `delete`; nil if one is none.
    public init?(names: [String]) {
        var operations: FiringOperations = []
        for name in names {
            switch name {
            case "created", "create": operations.insert(.created)
            case "updated", "update": operations.insert(.updated)
            case "deleted", "delete": operations.insert(.deleted)
            default: return nil
            }
        }
        self = operations
    }
}
