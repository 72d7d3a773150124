import ChangeEvents
import HTTPServer
import JSON
import Notifications
import RegistryCore

extension NativeHandler {
    private static let contentNames = [
        "type", "database", "recordType", "zoneName", "predicate", "filterBy", "filterGroup", "filter", "firesOn",
        "firesOnce", "notificationInfo",
    ]

    // MARK: One subscription

    /// `putDeviceSubscription`.
    func putDeviceSubscription() throws(NativeProblem) -> HTTPResponse { try put(try deviceKey()) }

    /// `getDeviceSubscription`.
    func getDeviceSubscription() throws(NativeProblem) -> HTTPResponse { try get(try deviceKey()) }

    /// `deleteDeviceSubscription`.
    func deleteDeviceSubscription() throws(NativeProblem) -> HTTPResponse { try delete(try deviceKey()) }

    /// `putUserSubscription`.
    func putUserSubscription() throws(NativeProblem) -> HTTPResponse { try put(try userKey()) }

    /// `getUserSubscription`.
    func getUserSubscription() throws(NativeProblem) -> HTTPResponse { try get(try userKey()) }

    /// `deleteUserSubscription`.
    func deleteUserSubscription() throws(NativeProblem) -> HTTPResponse { try delete(try userKey()) }

    private func deviceKey() throws(NativeProblem) -> SubscriptionKey {
        let device = try device()
        return SubscriptionKey(
            app: device.app, owner: .device(device.deviceID), subscriptionID: values["subscriptionId"])
    }

    private func userKey() throws(NativeProblem) -> SubscriptionKey {
        let app = try requireApp(values["app"])
        return SubscriptionKey(
            app: app.name, owner: .user(values["userId"]), subscriptionID: values["subscriptionId"])
    }

    private func put(_ key: SubscriptionKey) throws(NativeProblem) -> HTTPResponse {
        let body = try body(Self.contentNames)
        let subscription: RecordSubscription
        do throws(EventRejection) {
            subscription = try RecordSubscription(
                body.value, path: "body", key: key, savedAtMilliseconds: context.nowMilliseconds)
        } catch {
            throw NativeProblem(.invalid, error.message)
        }
        _ = try using { (registry) throws(RegistryError) in try registry.save([subscription]) }
        return Self.response(subscription)
    }

    private func get(_ key: SubscriptionKey) throws(NativeProblem) -> HTTPResponse {
        let stored = try using { (registry) throws(RegistryError) in try registry.subscription(key) }
        guard let stored else { throw missing(key) }
        return Self.response(stored.subscription)
    }

    private func delete(_ key: SubscriptionKey) throws(NativeProblem) -> HTTPResponse {
        let isRemoved = try using { (registry) throws(RegistryError) in try registry.removeSubscription(key) }
        guard isRemoved else { throw missing(key) }
        return Self.done
    }

    private func missing(_ key: SubscriptionKey) -> NativeProblem {
        NativeProblem(.notFound, "There is no subscription \"\(key.subscriptionID.prefix(256))\".")
    }

    private static func response(_ subscription: RecordSubscription) -> HTTPResponse {
        var writer = JSONWriter()
        subscription.write(to: &writer)
        return .content(200, type: "application/json", writer.bytes)
    }

    // MARK: Many

    /// `listSubscriptions`.
    func listSubscriptions() throws(NativeProblem) -> HTTPResponse {
        let limit = try limit()
        let filter = try subscriptionFilter()
        let after = try rowAfter()
        let page = try using { (registry) throws(RegistryError) in
            try registry.subscriptionPage(matching: filter, after: after, limit: limit)
        }
        return Self.page(
            "subscriptions", page.subscriptions, limit: limit, hasMore: page.next != nil, next: Self.position
        ) { stored, writer in
            stored.subscription.write(to: &writer)
        }
    }

    private static func position(_ stored: StoredSubscription) -> String { "\(stored.row)" }

    private func subscriptionFilter() throws(NativeProblem) -> SubscriptionFilter {
        var filter = SubscriptionFilter(app: token.app, recordType: request.query("recordType"))
        if let app = request.query("app") { filter.app = try requireApp(app).name }
        switch (request.query("deviceId"), request.query("userId")) {
        case (nil, nil): break
        case (let device?, nil): filter.owner = .device(device)
        case (nil, let user?): filter.owner = .user(user)
        default: throw NativeProblem(.invalid, "The query has deviceId and userId; a subscription belongs to one.")
        }
        return filter
    }

    private func rowAfter() throws(NativeProblem) -> Int64? {
        guard let text = request.query("after") else { return nil }
        guard let row = Int64(digits: text) else { throw Self.noPosition }
        return row
    }

    /// `countSubscriptions`.
    func countSubscriptions() throws(NativeProblem) -> HTTPResponse {
        let limit = try limit()
        let last = try countAfter()
        let found = try using { (registry) throws(RegistryError) in
            try registry.subscriptionCounts(app: token.app, after: last, limit: limit + 1)
        }
        return Self.page("counts", found, limit: limit, next: Self.position) { count, writer in
            writer.beginObject()
            writer.member("app", count.app)
            writer.member("recordType", count.recordType)
            writer.member("count", count.count)
            writer.endObject()
        }
    }

    /// The name of an app has no slash, so the record type begins after the first one.
    private static func position(_ count: SubscriptionCount) -> String { "\(count.app)/\(count.recordType ?? "")" }

    private func countAfter() throws(NativeProblem) -> SubscriptionCount? {
        guard let text = request.query("after") else { return nil }
        // By bytes: a slash and a mark that joins it are one character.
        guard let slash = text.utf8.firstIndex(of: UInt8(ascii: "/")) else { throw Self.noPosition }
        let (app, recordType) = (String(text[..<slash]), String(text[text.utf8.index(after: slash)...]))
        guard TextRule.app.isFollowed(by: app), recordType.isEmpty || TextRule.name.isFollowed(by: recordType)
        else { throw Self.noPosition }
        return SubscriptionCount(app: app, recordType: recordType.isEmpty ? nil : recordType, count: 0)
    }
}
