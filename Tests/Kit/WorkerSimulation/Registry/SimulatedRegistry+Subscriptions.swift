import ChangeEvents
import Notifications
import Predicates
import RegistryCore

extension SimulatedRegistry: SubscriptionRegistry {
    private func stored(_ subscription: World.Subscription) -> StoredSubscription {
        var notification = NotificationInfo()
        notification.alertBody = "#{n}#"
        let term = PredicateTerm("room", .equals(.integer(Int64(subscription.room)), .exact))
        return StoredSubscription(
            row: subscription.row,
            subscription: RecordSubscription(
                key: SubscriptionKey(
                    app: world.appNames[subscription.app], owner: subscription.owner,
                    subscriptionID: "s\(subscription.row)"),
                recordType: World.recordType, predicate: Predicate(normalized: [[term]]),
                firesOnce: subscription.firesOnce, notification: notification,
                savedAtMilliseconds: world.startMilliseconds))
    }

    private func pushed(_ subscription: World.Subscription) -> PushedSubscription {
        PushedSubscription(stored(subscription).subscription, row: subscription.row)
    }

    private func index(ofRow row: Int64) -> Int? {
        let index = Int(row) - 1
        return world.subscriptions.indices.contains(index) ? index : nil
    }

    func subscriptionChanges(
        after cursor: SubscriptionCursor?, limit: Int
    ) throws(RegistryError) -> SubscriptionChanges {
        try check()
        let end = Int64(subscriptionLog.count)
        guard let cursor else {
            return SubscriptionChanges(
                changes: world.subscriptions.filter { $0.firedFor == nil }.map {
                    .saved(FollowedSubscription(stored($0)))
                }, next: SubscriptionCursor(logPosition: end, loadingAfterRow: nil), isCaughtUp: true)
        }
        let changed = subscriptionLog[Int(cursor.logPosition)...].prefix(max(limit, 1))
        let changes = changed.compactMap { row -> SubscriptionChanges.Change? in
            guard let index = index(ofRow: row) else { return nil }
            let subscription = world.subscriptions[index]
            return subscription.firedFor == nil ? .saved(FollowedSubscription(stored(subscription))) : .removed(row)
        }
        return SubscriptionChanges(
            changes: changes,
            next: SubscriptionCursor(
                logPosition: cursor.logPosition + Int64(changed.count), loadingAfterRow: nil),
            isCaughtUp: cursor.logPosition + Int64(changed.count) == end)
    }

    func resolveSubscribers(
        _ requests: [SubscriberRequest], limit: Int
    ) throws(RegistryError) -> [SubscriberPage] {
        try check()
        return requests.map { page($0, limit: max(limit, 1)) }
    }

    private func page(_ request: SubscriberRequest, limit: Int) -> SubscriberPage {
        var page = SubscriberPage()
        var end = request.cursor ?? AudienceCursor(position: 0, subscription: 0)
        let rows = request.only.map { only in Set(only.map(\.subscription)).sorted() } ?? request.subscriptions
        let excluded = request.excludedDeviceID.flatMap { World.number(of: $0) }
        for row in rows where row >= end.subscription {
            guard let index = index(ofRow: row) else { continue }
            let subscription = world.subscriptions[index]
            let after = row == end.subscription ? end.position : 0
            for device in subscription.devices where Int64(device + 1) > after {
                guard world.devices[device].isRegistered, device != excluded else { continue }
                if let through = request.through,
                    (row, Int64(device + 1)) > (through.subscription, through.position)
                {
                    return page
                }
                if let fanOut = request.asOfFanOut, world.devices[device].joined >= fanOut { continue }
                if let only = request.only {
                    guard only.contains(Subscriber(subscription: row, deviceID: "d\(device)")) else { continue }
                } else if page.entries.count == limit {
                    page.next = end
                    return page
                }
                if page.subscriptions.last?.row != row { page.subscriptions.append(pushed(subscription)) }
                page.entries.append(
                    SubscriberPage.Entry(
                        recipient: world.recipient(device), subscription: page.subscriptions.count - 1))
                end = AudienceCursor(position: Int64(device + 1), subscription: row)
            }
        }
        return page
    }

    func claim(_ rows: [Int64], for event: EventDigest, nowMilliseconds: Int64) throws(RegistryError) -> [Int64] {
        try checkWritable()
        return rows.filter { row in
            guard let index = index(ofRow: row) else { return false }
            if world.subscriptions[index].firedFor == nil {
                world.subscriptions[index].firedFor = event
                subscriptionLog.append(row)
            }
            return world.subscriptions[index].firedFor == event
        }
    }

    func claimedSubscriptions(of event: EventDigest) throws(RegistryError) -> [Int64] {
        try check()
        return world.subscriptions.filter { $0.firedFor == event }.map(\.row)
    }

    func countBadges(
        _ deviceIDs: [String], for event: EventDigest, isRepeated: Bool
    ) throws(RegistryError) -> [Int] {
        try checkWritable()
        return deviceIDs.map { _ in 1 }
    }

    func save(_ subscriptions: [RecordSubscription]) throws(RegistryError) -> [Int64] { throw notSimulated }

    func removeSubscription(_ key: SubscriptionKey) throws(RegistryError) -> Bool { throw notSimulated }

    func subscription(_ key: SubscriptionKey) throws(RegistryError) -> StoredSubscription? { throw notSimulated }

    func subscriptionPage(
        matching filter: SubscriptionFilter, after row: Int64?, limit: Int
    ) throws(RegistryError) -> SubscriptionPage { throw notSimulated }

    func subscriptionCounts(
        app: String?, after last: SubscriptionCount?, limit: Int
    ) throws(RegistryError) -> [SubscriptionCount] { throw notSimulated }

    func setBadge(_ badge: Int, of deviceID: String) throws(RegistryError) -> Bool { throw notSimulated }

    func badge(of deviceID: String) throws(RegistryError) -> Int? { throw notSimulated }

    func subscribeUser(_ userID: String, app: String, toTopic topic: String) throws(RegistryError) {
        throw notSimulated
    }

    func unsubscribeUser(_ userID: String, app: String, fromTopic topic: String) throws(RegistryError) -> Bool {
        throw notSimulated
    }

    func topics(app: String, after topic: String?, limit: Int) throws(RegistryError) -> [TopicCount] {
        throw notSimulated
    }

    func topics(of deviceID: String) throws(RegistryError) -> [String] { throw notSimulated }

    func eraseIdentity(_ identityID: String) throws(RegistryError) -> Int { throw notSimulated }

    func eraseUser(_ userID: String) throws(RegistryError) -> Int { throw notSimulated }
}

/// Pauses, of which workers only read.
extension SimulatedRegistry: PauseRegistry {
    func pauses() throws(RegistryError) -> [AppPause] {
        try check()
        return pausedApps.sorted().map { app in
            AppPause(app: world.appNames[app], reason: "", user: "simulated", atMilliseconds: 0)
        }
    }

    func setPause(_ pause: AppPause) throws(RegistryError) { throw notSimulated }

    func removePause(app: String?) throws(RegistryError) -> Bool { throw notSimulated }
}

/// Reports, which the pipeline does not make.
extension SimulatedRegistry: WorkerReportRegistry {
    func saveReport(_ report: WorkerReport) throws(RegistryError) { throw notSimulated }

    func workerReports() throws(RegistryError) -> [WorkerReport] { throw notSimulated }

    func removeReport(of identifier: String) throws(RegistryError) { throw notSimulated }
}

/// The history of events, which simulated workers do not keep.
extension SimulatedRegistry: OutcomeHistoryRegistry {
    func keepOutcomes(_ outcomes: [KeptOutcome], atMilliseconds milliseconds: Int64) throws(RegistryError) {
        throw notSimulated
    }

    func keptOutcomes(ofEvent identifier: String, limit: Int) throws(RegistryError) -> [[UInt8]] { throw notSimulated }

    func forgetOutcomes(
        beforeMilliseconds milliseconds: Int64, outcomesMaximum maximum: Int, limit: Int
    ) throws(RegistryError) -> Int { throw notSimulated }
}

/// The memory of events, which simulated workers do not use.
extension SimulatedRegistry: EventMemoryRegistry {
    func hasEventMemory() throws(RegistryError) -> Bool { throw notSimulated }

    func eventMemoryBlocks(after number: Int64, limit: Int) throws(RegistryError) -> [EventMemoryBlock] {
        throw notSimulated
    }

    func eventMemoryBlocks(numbered numbers: [Int64]) throws(RegistryError) -> [EventMemoryBlock] {
        throw notSimulated
    }

    func remember(
        _ events: [RememberedEvent], endedAtMilliseconds milliseconds: Int64
    ) throws(RegistryError) { throw notSimulated }

    func forgetEvents(
        endedBeforeMilliseconds milliseconds: Int64, eventsMaximum maximum: Int, limit: Int
    ) throws(RegistryError) -> (blocks: Int, surplusEvents: Int) { throw notSimulated }
}

/// Outcomes that wait for the broker, which simulated workers drop.
extension SimulatedRegistry: OutcomeOutboxRegistry {
    func addWaitingOutcomes(_ outcomes: [WaitingOutcome]) throws(RegistryError) { throw notSimulated }

    func takeWaitingOutcomes(
        limit: Int, atMilliseconds milliseconds: Int64
    ) throws(RegistryError) -> [(number: Int64, outcome: WaitingOutcome)] { throw notSimulated }

    func removeWaitingOutcomes(_ numbers: [Int64]) throws(RegistryError) { throw notSimulated }
}
