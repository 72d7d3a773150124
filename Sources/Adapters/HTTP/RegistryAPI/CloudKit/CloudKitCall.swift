import ChangeEvents
import Essentials
import HTTPServer
import JSON
import Notifications
import RegistryCore

/// One request of the CloudKit api, whose sender is known, carried out on the registry's thread.
struct CloudKitCall {
    /// How many operations or names one request may have (CloudKit's own limit).
    private static let operationsMaximum = 200
    private static let listPageCount = 1_000

    let app: String
    /// On whose behalf the request is.
    let userID: String
    let request: HTTPRequest
    let values: PathValues
    let context: RegistryContext
    /// Where clients fetch their notifications.
    let courierAddress: CourierAddress

    private var owner: SubscriptionOwner { .user(userID) }

    // MARK: Subscriptions

    /// `subscriptions/modify`.
    func modify() throws(CloudKitError) -> HTTPResponse {
        let database = try database()
        let operations = try array(try body(), "operations")
        return Self.subscriptions { writer in
            for operation in operations {
                do throws(CloudKitError) {
                    let change = try CloudKitOperation(operation, userID: userID, app: app, database: database, context)
                    try carryOut(change, to: &writer)
                } catch {
                    error.write(to: &writer)
                }
            }
        }
    }

    private func carryOut(_ change: CloudKitOperation, to writer: inout JSONWriter) throws(CloudKitError) {
        let key = change.key
        let old = try using(key.subscriptionID) { (registry) throws(RegistryError) in try registry.subscription(key) }
        switch change.change {
        case .create(let created):
            guard old == nil else {
                throw CloudKitError(.exists, "There is a subscription of this name.").about(key.subscriptionID)
            }
            guard !created.hasPredicateText else { throw unansweredPredicate(key.subscriptionID) }
            try save(created.subscription, to: &writer)
        case .update(let updated):
            guard let old = old?.subscription, old.database == updated.subscription.database else {
                throw missing(key.subscriptionID)
            }
            guard !updated.hasPredicateText || old.predicate == updated.subscription.predicate else {
                throw unansweredPredicate(key.subscriptionID)
            }
            try save(updated.subscription, to: &writer)
        case .delete(let database):
            guard old?.subscription.database == database else { throw missing(key.subscriptionID) }
            _ = try using(key.subscriptionID) { (registry) throws(RegistryError) in
                try registry.removeSubscription(key)
            }
            writer.beginObject()
            writer.member("subscriptionID", key.subscriptionID)
            writer.member("deleted", true)
            writer.endObject()
        }
    }

    private func save(_ subscription: RecordSubscription, to writer: inout JSONWriter) throws(CloudKitError) {
        _ = try using(subscription.key.subscriptionID) { (registry) throws(RegistryError) in
            try registry.save([subscription])
        }
        CloudKitSubscription.write(subscription, to: &writer)
    }

    /// `subscriptions/list`: all of the user's subscriptions, because the protocol has no pages; the quotas of an owner
    /// bound them.
    func list() throws(CloudKitError) -> HTTPResponse {
        let database = try database()
        let filter = SubscriptionFilter(app: app, owner: owner)
        var found: [RecordSubscription] = []
        var after: Int64?
        repeat {
            let page = try using(nil) { [after] (registry) throws(RegistryError) in
                try registry.subscriptionPage(matching: filter, after: after, limit: Self.listPageCount)
            }
            found += page.subscriptions.map(\.subscription).filter { $0.database == database }
            after = page.next
        } while after != nil
        return Self.subscriptions { writer in
            for subscription in found { CloudKitSubscription.write(subscription, to: &writer) }
        }
    }

    /// `subscriptions/lookup`.
    func lookup() throws(CloudKitError) -> HTTPResponse {
        let database = try database()
        let names = try array(try body(), "subscriptions")
        return Self.subscriptions { writer in
            for element in names {
                do throws(CloudKitError) {
                    guard let name = element["subscriptionID"]?.string else {
                        throw CloudKitError(.badRequest, "subscriptions[] has an entry without subscriptionID.")
                    }
                    let key = SubscriptionKey(app: app, owner: owner, subscriptionID: name)
                    let stored = try using(name) { (registry) throws(RegistryError) in try registry.subscription(key) }
                    guard let stored, stored.subscription.database == database else { throw missing(name) }
                    CloudKitSubscription.write(stored.subscription, to: &writer)
                } catch {
                    error.write(to: &writer)
                }
            }
        }
    }

    private func unansweredPredicate(_ subscriptionID: String) -> CloudKitError {
        CloudKitError(
            .badRequest,
            "query.predicate can only be sent back as it was answered; give filterBy to say what records must satisfy."
        ).about(subscriptionID)
    }

    private func missing(_ subscriptionID: String) -> CloudKitError {
        CloudKitError(.notFound, "There is no such subscription in this database.").about(subscriptionID)
    }

    // MARK: Tokens

    /// `tokens/create`: a device of the user whose client has no APNs, and fetches its notifications from here.
    ///
    /// Source: Apple, "CloudKit Web Services Reference", "Creating APNs Tokens". A client may name itself in `clientId`
    /// as well, which keeps one that asks again from getting another device.
    func createToken() throws(CloudKitError) -> HTTPResponse {
        let members = try body()
        let (environment, _) = try environment(members)
        let client = members["clientId"]
        guard client == nil || (client?.string).map({ TextRule.name.isFollowed(by: $0) }) ?? false else {
            throw CloudKitError(.badRequest, "clientId is a text of 1 to 256 bytes without control characters.")
        }
        guard let base = courierAddress.base else {
            throw CloudKitError(
                .internalError,
                "The server does not know by which URL clients reach it; its operator sets registry.public_url.")
        }
        let secret = try using(nil) { (registry) throws(RegistryError) in
            try DeviceRegistrar(registry: registry, app: app).registerCourier(
                clientID: client?.string, environment: environment, for: userID, context.courierTokens,
                nowMilliseconds: context.nowMilliseconds)
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("apnsEnvironment", environment)
        writer.member("apnsToken", context.courierTokens.token(of: secret).hexadecimal)
        writer.member("webcourierURL", "\(base)/courier/\(secret.text)")
        writer.endObject()
        return .content(200, type: "application/json", writer.bytes)
    }

    private func environment(_ members: JSONObject) throws(CloudKitError) -> (name: String, platform: Platform) {
        switch members["apnsEnvironment"]?.string {
        case "production": ("production", .apns)
        case "development": ("development", .apnsSandbox)
        default: throw CloudKitError(.badRequest, "apnsEnvironment is \"production\" or \"development\".")
        }
    }

    /// `tokens/register`: registers the user's device, which gets the pushes of the user's subscriptions.
    func registerToken() throws(CloudKitError) -> HTTPResponse {
        let members = try body()
        let (_, platform) = try environment(members)
        guard let text = members["apnsToken"]?.string, let token = Self.token(text) else {
            throw CloudKitError(.badRequest, "apnsToken is no APNs token in hexadecimal digits or base64.")
        }
        _ = try using(nil) { (registry) throws(RegistryError) in
            try DeviceRegistrar(registry: registry, app: app).register(
                token, platform: context.courierTokens.gaveOut(token) ? .courier : platform, for: .user(userID),
                nowMilliseconds: context.nowMilliseconds)
        }
        return HTTPResponse.content(200, type: "application/json", Array("{}".utf8))
    }

    private static func token(_ text: String) -> DeviceToken? {
        if let token = DeviceToken(hexadecimal: text) { return token }
        let urlText = text.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }.filter { $0 != "=" }
        return Base64URL.decode(String(urlText)).flatMap { DeviceToken(bytes: $0) }
    }

    // MARK: Common

    private func database() throws(CloudKitError) -> RecordDatabase {
        guard let database = RecordDatabase(rawValue: values["database"]) else {
            throw CloudKitError(.notFound, "The database is public, private or shared.")
        }
        return database
    }

    private func body() throws(CloudKitError) -> JSONObject {
        do throws(JSONError) {
            if let members = try context.parser.parse(request.body).object { return members }
        } catch {
            throw CloudKitError(.badRequest, "The body is not JSON: \(error)")
        }
        throw CloudKitError(.badRequest, "The body is not a JSON object.")
    }

    private func array(_ members: JSONObject, _ name: StaticString) throws(CloudKitError) -> JSONArray {
        guard let array = members[name]?.array else {
            throw CloudKitError(.badRequest, "\(name) is missing, or no array.")
        }
        guard array.count <= Self.operationsMaximum else {
            throw CloudKitError(.badRequest, "\(name) has more than \(Self.operationsMaximum) entries.")
        }
        return array
    }

    private func using<Value>(
        _ subscriptionID: String?, _ body: (any ServedRegistry) throws(RegistryError) -> Value
    ) throws(CloudKitError) -> Value {
        do throws(RegistryError) {
            return try context.using(body)
        } catch {
            throw CloudKitError(error).about(subscriptionID)
        }
    }

    private static func subscriptions(_ write: (inout JSONWriter) -> Void) -> HTTPResponse {
        var writer = JSONWriter()
        writer.beginObject()
        writer.array("subscriptions") { writer in write(&writer) }
        writer.endObject()
        return .content(200, type: "application/json", writer.bytes)
    }
}

/// One operation of `subscriptions/modify`.
struct CloudKitOperation {
    /// The change to make.
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
