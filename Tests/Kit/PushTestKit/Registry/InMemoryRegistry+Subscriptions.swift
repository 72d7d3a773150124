public import ChangeEvents
import Essentials
public import RegistryCore

extension InMemoryRegistry: SubscriptionRegistry {
    /// The subscriptions whose owner is still there, by row.
    private var live: [InMemorySubscriptions.Entry] {
        records.entries.values.filter(isLive).sorted { $0.stored.row < $1.stored.row }
    }

    private func isLive(_ entry: InMemorySubscriptions.Entry) -> Bool {
        guard case .device(let deviceID) = entry.stored.subscription.key.owner else { return true }
        guard let device = entries[deviceID] else { return false }
        return device.number == entry.deviceNumber && device.device.app == entry.stored.subscription.key.app
    }

    private var visible: [StoredSubscription] { live.filter { $0.firedFor == nil }.map(\.stored) }

    /// Saves subscriptions, all or none.
    public func save(_ subscriptions: [RecordSubscription]) throws(RegistryError) -> [Int64] {
        try check()
        for subscription in subscriptions {
            try SubscriptionRules.check(subscription)
            guard case .device(let deviceID) = subscription.key.owner else { continue }
            guard entries[deviceID]?.device.app == subscription.key.app else { throw RegistryError.noDevice(deviceID) }
        }
        return subscriptions.map { save($0) }
    }

    private func save(_ subscription: RecordSubscription) -> Int64 {
        var number: Int64?
        if case .device(let deviceID) = subscription.key.owner { number = entries[deviceID]?.number }
        let known = records.entries.values.first { $0.stored.subscription.key == subscription.key && isLive($0) }
        if known == nil { records.lastRow += 1 }
        let row = known?.stored.row ?? records.lastRow
        records.entries[row] = InMemorySubscriptions.Entry(
            stored: StoredSubscription(row: row, subscription: subscription), deviceNumber: number)
        return row
    }

    /// Removes a subscription.
    public func removeSubscription(_ key: SubscriptionKey) throws(RegistryError) -> Bool {
        try check()
        guard let entry = live.first(where: { $0.stored.subscription.key == key }) else { return false }
        records.entries[entry.stored.row] = nil
        return entry.firedFor == nil
    }

    /// One subscription, or nil.
    public func subscription(_ key: SubscriptionKey) throws(RegistryError) -> StoredSubscription? {
        try check()
        return visible.first { $0.subscription.key == key }
    }

    /// Subscriptions in the order of their rows.
    public func subscriptionPage(
        matching filter: SubscriptionFilter, after row: Int64?, limit: Int
    ) throws(RegistryError) -> SubscriptionPage {
        try check()
        let matching = visible.filter { stored in
            stored.row > row ?? 0 && filter.app.map { $0 == stored.subscription.key.app } ?? true
                && filter.owner.map { $0 == stored.subscription.key.owner } ?? true
                && filter.recordType.map { $0.hasBytes(of: stored.subscription.recordType) } ?? true
        }
        var bytes = 0
        let page = matching.prefix(max(limit, 1)).prefix { stored in
            defer { bytes += stored.subscription.storedBytes }
            return bytes < SubscriptionPage.bytesMaximum
        }
        return SubscriptionPage(
            subscriptions: Array(page), next: page.count < matching.count ? page.last?.row : nil)
    }

    /// How many subscriptions there are, by app and record type.
    public func subscriptionCounts(
        app: String?, after last: SubscriptionCount?, limit: Int
    ) throws(RegistryError) -> [SubscriptionCount] {
        try check()
        let groups = Dictionary(grouping: visible) {
            [ByteText($0.subscription.key.app), $0.subscription.recordType.map(ByteText.init)]
        }
        func sortKey(_ count: SubscriptionCount) -> (ByteText, ByteText) {
            (ByteText(count.app), ByteText(count.recordType ?? ""))
        }
        let counts = groups.map { names, group in
            SubscriptionCount(app: names[0]?.text ?? "", recordType: names[1]?.text, count: group.count)
        }
        let wanted = counts.filter { count in
            app.map { $0.hasBytes(of: count.app) } ?? true && last.map { sortKey($0) < sortKey(count) } ?? true
        }
        return Array(wanted.sorted { sortKey($0) < sortKey($1) }.prefix(max(limit, 0)))
    }

    /// The changes since a cursor: all subscriptions, each time.
    public func subscriptionChanges(
        after cursor: SubscriptionCursor?, limit: Int
    ) throws(RegistryError) -> SubscriptionChanges {
        try check()
        return SubscriptionChanges(
            changes: visible.map { .saved(FollowedSubscription($0)) },
            next: SubscriptionCursor(logPosition: 0, loadingAfterRow: nil),
            isCaughtUp: true, startsOver: true)
    }

    /// Finds the devices of subscriptions.
    public func resolveSubscribers(
        _ requests: [SubscriberRequest], limit: Int
    ) throws(RegistryError) -> [SubscriberPage] {
        try check()
        return requests.map { request in
            var page = page(request, limit: max(limit, 1))
            let toCover = page.entriesToCover(request)
            guard !toCover.isEmpty else { return page }
            let lowest = lowestSilentRows(request)
            for index in toCover {
                let row = lowest[page.entries[index].recipient.deviceID]
                page.cover(index, by: row.map { [$0] } ?? [], of: request)
            }
            return page
        }
    }

    /// The lowest row of the silent subscriptions of each device that a request asks for and that fire always.
    private func lowestSilentRows(_ request: SubscriberRequest) -> NamedEntries<Int64> {
        let asked = Set(request.subscriptions)
        var lowest = NamedEntries<Int64>()
        for stored in visible where asked.contains(stored.row) {
            guard !stored.subscription.notification.isVisible, !stored.subscription.firesOnce else { continue }
            for device in devices(of: stored.subscription) where lowest[device.device.deviceID] == nil {
                lowest[device.device.deviceID] = stored.row
            }
        }
        return lowest
    }

    private func page(_ request: SubscriberRequest, limit: Int) -> SubscriberPage {
        var page = SubscriberPage()
        var end = request.cursor ?? AudienceCursor(position: 0, subscription: 0)
        let rows = request.only.map { Set($0.map(\.subscription)) } ?? Set(request.subscriptions)
        let before = request.asOfFanOut.flatMap { fanOuts.befores[$0] }
        for entry in live where rows.contains(entry.stored.row) && entry.stored.row >= end.subscription {
            let after = entry.stored.row == end.subscription ? end.position : 0
            for device in devices(of: entry.stored.subscription) where device.number > after {
                let deviceID = device.device.deviceID
                if deviceID.hasBytes(of: request.excludedDeviceID) { continue }
                if let through = request.through {
                    let isWithin = (entry.stored.row, device.number) <= (through.subscription, through.position)
                    guard isWithin else { return page }
                }
                if let before {
                    let early = before.devices(of: entry.stored.subscription).map(\.number)
                    guard early.contains(device.number) else { continue }
                }
                let name = Subscriber(subscription: entry.stored.row, deviceID: deviceID)
                if let only = request.only {
                    guard only.contains(name) else { continue }
                } else if page.entries.count == limit {
                    page.next = end
                    return page
                }
                if page.subscriptions.last?.row != entry.stored.row {
                    page.subscriptions.append(
                        PushedSubscription(entry.stored.subscription, row: entry.stored.row))
                }
                page.entries.append(
                    SubscriberPage.Entry(
                        recipient: Recipient(device.device), subscription: page.subscriptions.count - 1))
                end = AudienceCursor(position: device.number, subscription: entry.stored.row)
            }
        }
        return page
    }

    func devices(of subscription: RecordSubscription) -> [Entry] {
        entries.values.filter { entry in
            guard entry.device.app == subscription.key.app else { return false }
            return switch subscription.key.owner {
            case .user(let user): entry.device.userID.hasBytes(of: user)
            case .device(let deviceID): entry.device.deviceID.hasBytes(of: deviceID)
            }
        }.sorted { $0.number < $1.number }
    }

    /// Claims subscriptions that fire once for an event.
    public func claim(
        _ rows: [Int64], for event: EventDigest, nowMilliseconds: Int64
    ) throws(RegistryError) -> [Int64] {
        try check()
        let claimed = rows.filter { row in
            guard let entry = records.entries[row] else { return false }
            if entry.firedFor == nil { records.entries[row]?.firedFor = event }
            return entry.firedFor == nil || entry.firedFor == event
        }
        if let failureAfterClaim {
            self.failureAfterClaim = nil
            throw failureAfterClaim
        }
        return claimed
    }

    /// The subscriptions that an event has claimed.
    public func claimedSubscriptions(of event: EventDigest) throws(RegistryError) -> [Int64] {
        try check()
        return live.filter { $0.firedFor == event }.map(\.stored.row)
    }

    // MARK: Badges

    /// Adds one to the badges of devices, once for each event.
    public func countBadges(
        _ deviceIDs: [String], for event: EventDigest, isRepeated: Bool
    ) throws(RegistryError) -> [Int] {
        try check()
        return deviceIDs.map { deviceID in
            if !isRepeated, let events = entries[deviceID]?.badgeEvents, !events.contains(event) {
                entries[deviceID]?.badge += 1
                entries[deviceID]?.badgeEvents = [event] + events.prefix(SubscriptionRules.badgeEventsMaximum - 1)
            }
            return max(1, entries[deviceID]?.badge ?? 1)
        }
    }

    /// Sets the badge of a device.
    public func setBadge(_ badge: Int, of deviceID: String) throws(RegistryError) -> Bool {
        try check()
        try SubscriptionRules.check(badge: badge)
        entries[deviceID]?.badge = badge
        return entries[deviceID] != nil
    }

    /// The badge of a device.
    public func badge(of deviceID: String) throws(RegistryError) -> Int? {
        try check()
        return entries[deviceID]?.badge
    }

    // MARK: Users

    /// Subscribes all devices of a user to a topic.
    public func subscribeUser(_ userID: String, app: String, toTopic topic: String) throws(RegistryError) {
        try check()
        try RegistryRules.checkTopic(topic)
        try RegistryRules.checkOwner(userID, app: app)
        records.topicUsers[InMemorySubscriptions.Topic(app: app, name: ByteText(topic)), default: []].insert(
            ByteText(userID))
    }

    /// Ends a user's subscription to a topic.
    public func unsubscribeUser(
        _ userID: String, app: String, fromTopic topic: String
    ) throws(RegistryError) -> Bool {
        try check()
        let key = InMemorySubscriptions.Topic(app: app, name: ByteText(topic))
        return records.topicUsers[key]?.remove(ByteText(userID)) != nil
    }

    /// The topics of a device, sorted.
    public func topics(of deviceID: String) throws(RegistryError) -> [String] {
        try check()
        guard let entry = entries[deviceID] else { return [] }
        var names = entry.topics
        for (key, users) in records.topicUsers where key.app == entry.device.app {
            if let user = entry.device.userID, users.contains(ByteText(user)) { names.insert(key.name) }
        }
        return names.map(\.text).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// The topics of an app that have subscribers, by name.
    public func topics(app: String, after topic: String?, limit: Int) throws(RegistryError) -> [TopicCount] {
        try check()
        var devices: [ByteText: Int] = [:]
        for entry in entries.values where entry.device.app == app {
            for topic in entry.topics { devices[topic, default: 0] += 1 }
        }
        var users: [ByteText: Int] = [:]
        for (key, names) in records.topicUsers where key.app == app && !names.isEmpty { users[key.name] = names.count }
        let last = ByteText(topic ?? "")
        let names = Set(devices.keys).union(users.keys).filter { last < $0 }.sorted().prefix(max(limit, 0))
        return names.map { TopicCount(topic: $0.text, devices: devices[$0] ?? 0, users: users[$0] ?? 0) }
    }

    /// Erases everything of an identity.
    public func eraseIdentity(_ identityID: String) throws(RegistryError) -> Int {
        try check()
        let devices = entries.values.filter { $0.device.identityID == identityID }
        for entry in devices {
            subtractOpens(of: entry)
            entries[entry.device.deviceID] = nil
        }
        for owner in knownDatasets.keys where owner.identity == identityID { knownDatasets[owner] = nil }
        return devices.count
    }

    /// Erases everything of a user.
    public func eraseUser(_ userID: String) throws(RegistryError) -> Int {
        try check()
        let devices = entries.values.filter { $0.device.userID.hasBytes(of: userID) }
        for entry in devices {
            subtractOpens(of: entry)
            entries[entry.device.deviceID] = nil
        }
        records.entries = records.entries.filter { $0.value.stored.subscription.key.owner != .user(userID) }
        for topic in records.topicUsers.keys { records.topicUsers[topic]?.remove(ByteText(userID)) }
        return devices.count
    }
}

/// The subscriptions to records and the users' topics of an `InMemoryRegistry`.
struct InMemorySubscriptions {
    struct Topic: Hashable {
        var app: String
        var name: ByteText
    }

    struct Entry {
        var stored: StoredSubscription
        /// The number of the owning device's entry, so that a device of the same name that comes later is another.
        var deviceNumber: Int64?
        var firedFor: EventDigest?
    }

    /// By row.
    var entries: [Int64: Entry] = [:]
    var lastRow: Int64 = 0
    var topicUsers: [Topic: Set<ByteText>] = [:]
}
