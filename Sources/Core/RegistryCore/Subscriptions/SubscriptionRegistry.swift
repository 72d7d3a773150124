public import ChangeEvents

/// The store of subscriptions to records, as the core sees it.
///
/// The same store as `Registry`, with the same rules: calls are synchronous, come from one thread, and throw
/// `RegistryError`; several processes may use the store at once.
public protocol SubscriptionRegistry: AnyObject {
    /// Saves subscriptions, all or none; each replaces one with the same key.
    ///
    /// A saved subscription that fires once may fire again. A subscription of a device ends with the device, or when
    /// the device changes its app; one of a user stays until it is removed.
    ///
    /// - Returns: the rows, in the order of the subscriptions; a subscription keeps its row when it is saved again.
    /// - Throws: `.invalid` (see `SubscriptionRules`), `.notFound` if there is no such device in the app.
    func save(_ subscriptions: [RecordSubscription]) throws(RegistryError) -> [Int64]

    /// Removes a subscription; the answer is false if there was none.
    func removeSubscription(_ key: SubscriptionKey) throws(RegistryError) -> Bool

    /// One subscription, or nil; one that has fired its only push is gone.
    func subscription(_ key: SubscriptionKey) throws(RegistryError) -> StoredSubscription?

    /// Subscriptions in the order of their rows, after `row` if one is given.
    ///
    /// A page has at most `limit` of them, at least one, and no more than about `SubscriptionPage.bytesMaximum`;
    /// further rows are not read.
    func subscriptionPage(
        matching filter: SubscriptionFilter, after row: Int64?, limit: Int
    ) throws(RegistryError) -> SubscriptionPage

    /// How many subscriptions there are, by app and record type, in the order of these names.
    ///
    /// - Parameters:
    ///   - app: the only app that counts; nil for all.
    ///   - last: the last entry of the previous page.
    ///   - limit: the most counts in one answer.
    /// - Returns: the counts; those of all record types come before the others of their app.
    /// - Throws: `RegistryError` if the store cannot answer.
    func subscriptionCounts(
        app: String?, after last: SubscriptionCount?, limit: Int
    ) throws(RegistryError) -> [SubscriptionCount]

    /// The changes since a cursor.
    ///
    /// The first call is without a cursor and begins to read all subscriptions; later ones go on from `next`. A
    /// subscription that was committed before the call is known when an answer says `isCaughtUp`. If nothing changed
    /// the answer costs next to nothing.
    ///
    /// - Parameters:
    ///   - cursor: `next` of the last answer.
    ///   - limit: the most changes in one answer.
    /// - Returns: the changes.
    /// - Throws: `RegistryError` if the store cannot answer.
    func subscriptionChanges(
        after cursor: SubscriptionCursor?, limit: Int
    ) throws(RegistryError) -> SubscriptionChanges

    /// Finds the devices of subscriptions, for a batch of events.
    ///
    /// Answers come page by page, as those of `Registry.resolve` do. A subscription that is gone has no devices; one
    /// that has fired its only push has them still, so that a retry finds them.
    ///
    /// If an answer has several pages, or is a part of a larger one, a device's silent subscriptions can lie on
    /// different pages. Then the entries of all but one of them say which subscription covers them
    /// (`SubscriberPage.cover`).
    ///
    /// - Parameters:
    ///   - requests: the subscriptions of each event.
    ///   - limit: the most devices in one page.
    /// - Returns: one page for each request, in the order of the requests.
    /// - Throws: `RegistryError` if the store cannot answer.
    func resolveSubscribers(
        _ requests: [SubscriberRequest], limit: Int
    ) throws(RegistryError) -> [SubscriberPage]

    /// Claims subscriptions that fire once for an event, so that no other event fires them, in any process.
    ///
    /// - Parameters:
    ///   - rows: the subscriptions.
    ///   - event: the digest that identifies the event.
    ///   - nowMilliseconds: when it is, in milliseconds since 1970.
    /// - Returns: the subscriptions that the event may fire, because it claims them now or did so before.
    /// - Throws: `RegistryError` if the store cannot be written.
    func claim(_ rows: [Int64], for event: EventDigest, nowMilliseconds: Int64) throws(RegistryError) -> [Int64]

    /// The subscriptions that an event has claimed: a redelivery of it fires them again.
    func claimedSubscriptions(of event: EventDigest) throws(RegistryError) -> [Int64]

    /// Adds one to the badges of devices that an event is about to be pushed to, and answers the numbers in order.
    ///
    /// An event counts once for each device, however many of the device's subscriptions it concerns and however often
    /// it is delivered. A device remembers its last events for that (`SubscriptionRules.badgeEventsMaximum`).
    ///
    /// - Parameters:
    ///   - deviceIDs: the devices; one that is gone has the badge 1.
    ///   - event: the digest that identifies the event.
    ///   - isRepeated: whether this is a retry, which adds nothing.
    /// - Returns: the badges, in the order of the devices.
    /// - Throws: `RegistryError` if the store cannot be written.
    func countBadges(
        _ deviceIDs: [String], for event: EventDigest, isRepeated: Bool
    ) throws(RegistryError) -> [Int]

    /// Sets the badge of a device to what its app shows; the answer is false if there is no such device.
    func setBadge(_ badge: Int, of deviceID: String) throws(RegistryError) -> Bool

    /// The badge of a device; nil if there is no such device.
    func badge(of deviceID: String) throws(RegistryError) -> Int?

    /// Subscribes all devices of a user, now and later, to a topic of an app; a repeated subscription is one.
    func subscribeUser(_ userID: String, app: String, toTopic topic: String) throws(RegistryError)

    /// Ends a user's subscription to a topic; the answer is false if there was none.
    func unsubscribeUser(_ userID: String, app: String, fromTopic topic: String) throws(RegistryError) -> Bool

    /// The topics of an app that anyone subscribes to, by name.
    func topics(app: String, after topic: String?, limit: Int) throws(RegistryError) -> [TopicCount]

    /// The topics that a device is subscribed to, by itself or by way of its user, sorted; none if it is not there.
    func topics(of deviceID: String) throws(RegistryError) -> [String]

    /// Erases everything of an identity: its devices with all their subscriptions, and the records of its datasets.
    ///
    /// - Returns: how many devices were removed.
    func eraseIdentity(_ identityID: String) throws(RegistryError) -> Int

    /// Erases everything of a user: devices, subscriptions and topics.
    ///
    /// - Returns: how many devices were removed.
    func eraseUser(_ userID: String) throws(RegistryError) -> Int
}

extension SubscriptionRegistry {
    /// Subscriptions in the order of their rows, after `row` if one is given.
    ///
    /// There are at most `limit`, and fewer if they are large (`subscriptionPage`); none is the end.
    public func subscriptions(
        matching filter: SubscriptionFilter, after row: Int64?, limit: Int
    ) throws(RegistryError) -> [StoredSubscription] {
        try subscriptionPage(matching: filter, after: row, limit: limit).subscriptions
    }

    /// All counts.
    public func subscriptionCounts() throws(RegistryError) -> [SubscriptionCount] {
        var counts: [SubscriptionCount] = []
        while true {
            let page = try subscriptionCounts(app: nil, after: counts.last, limit: 1_000)
            guard !page.isEmpty else { return counts }
            counts += page
        }
    }
}
