import JSON
import PushCore

/// One operation of `subscriptions/modify`.
struct CloudKitOperation {
    /// What is to be done.
    enum Change {
        case create(CloudKitSubscription)
        case update(CloudKitSubscription)
        case delete(RecordDatabase)
    }

    /// The subscription that it is about.
    let key: SubscriptionKey
    let change: Change

    /// Reads `{"operationType": …, "subscription": {…}}`.
    init(
        _ operation: JSONValue, userID: String, app: String, database: RecordDatabase, _ context: RegistryContext
    ) throws(CloudKitError) {
        guard let dictionary = operation["subscription"], dictionary.object != nil else {
            throw CloudKitError(.badRequest, "An operation has no subscription.")
        }
        let type = operation["operationType"]?.string
        let name = dictionary["subscriptionID"]?.string
        guard type == "create" || name != nil else {
            throw CloudKitError(.badRequest, "subscriptionID is missing; only create can do without.")
        }
        key = SubscriptionKey(
            app: app, owner: .user(userID), subscriptionID: name ?? RandomIdentifier.uuid().uppercased())
        change = try Self.change(type, dictionary, key, database, context)
    }

    private static func change(
        _ type: String?, _ dictionary: JSONValue, _ key: SubscriptionKey, _ database: RecordDatabase,
        _ context: RegistryContext
    ) throws(CloudKitError) -> Change {
        if type == "delete" { return .delete(database) }
        guard type == "create" || type == "update" else {
            throw CloudKitError(.badRequest, "operationType is create, update or delete.").about(key.subscriptionID)
        }
        do throws(CloudKitError) {
            let subscription = try CloudKitSubscription(
                dictionary, key: key, database: database, savedAtMilliseconds: context.nowMilliseconds)
            return type == "create" ? .create(subscription) : .update(subscription)
        } catch {
            throw error.about(key.subscriptionID)
        }
    }
}
