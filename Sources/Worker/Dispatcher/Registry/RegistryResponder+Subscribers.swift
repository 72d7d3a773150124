import ChangeEvents
import DispatchCore
import Essentials
import Metrics
import RegistryCore

/// Resolves the change of a record to the devices of its subscribers.
extension RegistryResponder {
    /// Finds the subscribers of record events, claims the subscriptions that fire once, and counts badges.
    ///
    /// - Parameters:
    ///   - questions: the questions, all about records.
    ///   - limit: the most devices for each.
    /// - Returns: an audience for each.
    /// - Throws: `RegistryError` if the registry does not answer; then subscriptions that were claimed are claimed by
    ///   the same events again.
    func resolveSubscribers(_ questions: [AudienceQuestion], _ limit: Int) throws(RegistryError) -> [AudienceResult] {
        guard !questions.isEmpty else { return [] }
        let matching = try matchingSubscriptions(questions.map(\.event.matchedChange)) { index in
            let event = questions[index].event
            let mayHaveClaims =
                questions[index].isRepeated || event.delivery.isRedelivered || event.retryState.isRequeuedCopy
            return mayHaveClaims ? event.digest : nil
        }
        let requests = zip(questions, matching).map(request)
        let pages = try registry.resolveSubscribers(requests, limit: limit)
        var audiences: [AudienceResult] = []
        var room = AudienceRoom(limits)
        for page in pages where page.next == nil { room.take(page.entries.count) }
        for ((question, request), firstPage) in zip(zip(questions, requests), pages) {
            var page = firstPage
            if page.next != nil, question.event.delivery.deliveryClass == .interactive {
                guard room.takeWhole() else {
                    audiences.append(.later)
                    continue
                }
                if let whole = try whole(request, isPlannedIfLarge: question.mayBePlanned, found: page) {
                    page = whole
                } else {
                    audiences.append(.large(firstDevices: [], known: nil))
                    continue
                }
            }
            let claimed = try claimed(page, by: question.event)
            audiences.append(.subscribers(claimed, badges: try badges(of: claimed, question.event)))
        }
        return audiences
    }

    /// The page with all subscribers that a batch takes of one event.
    ///
    /// - Returns: the page; nil if there are more than one worker is to serve, and the event is planned for that.
    private func whole(
        _ request: SubscriberRequest, isPlannedIfLarge: Bool, found page: SubscriberPage
    ) throws(RegistryError) -> SubscriberPage? {
        let most = limits.devicesPerAudienceMaximum
        let whole =
            page.entries.count < most ? try registry.resolveSubscribers([request], limit: most)[0] : page
        guard isPlannedIfLarge, whole.next != nil else { return whole }
        if most == limits.fanOutThresholdDevices { return nil }
        let isLarge = try registry.resolveSubscribers([request], limit: limits.fanOutThresholdDevices)[0].next != nil
        return isLarge ? nil : whole
    }

    /// The request to the registry for an event.
    private func request(_ question: AudienceQuestion, subscriptions: [Int64]) -> SubscriberRequest {
        let retryState = question.event.retryState
        if let named = retryState.deviceIDs {
            return SubscriberRequest(subscriptions: [], only: named.compactMap { Subscriber(retryName: $0) })
        }
        if let job = retryState.chunk {
            // The subscriptions found when the event was planned, even if the index has changed since.
            return SubscriberRequest(
                subscriptions: job.chunk.subscriptions, excludedDeviceID: question.excludedDeviceID,
                cursor: question.cursor, through: job.chunk.through, asOfFanOut: job.fanOut)
        }
        return SubscriberRequest(
            subscriptions: subscriptions, excludedDeviceID: question.excludedDeviceID, cursor: question.cursor)
    }

    /// The rows of the subscriptions that match each of some changes, in ascending order; none for nil.
    ///
    /// - Parameters:
    ///   - changes: the changes; nil for an event that has brought its subscriptions or devices along.
    ///   - claimant: the event at an index, if it may have claimed subscriptions at an earlier attempt, which have left
    ///     the index since.
    /// - Returns: the rows for each change.
    /// - Throws: `RegistryError` if the registry does not answer.
    func matchingSubscriptions(
        _ changes: [RecordChange?], claimedBy claimant: (Int) -> EventDigest?
    ) throws(RegistryError) -> [[Int64]] {
        let matched = changes.compactMap { $0 }
        guard !matched.isEmpty else { return changes.map { _ in [] } }
        try follower.catchUp()
        var found = follower.subscriptions(matching: matched).makeIterator()
        var matching: [[Int64]] = []
        for (index, change) in changes.enumerated() {
            guard change != nil, let (rows, wasSlow) = found.next() else {
                matching.append([])
                continue
            }
            if wasSlow { metrics.matchedSlowly.add() }
            let claimed = try claimant(index).map { event throws(RegistryError) in
                try registry.claimedSubscriptions(of: event)
            }
            matching.append(claimed.map { Set(rows).union($0).sorted() } ?? rows)
        }
        return matching
    }

    /// The page without the subscriptions whose only push another event has fired.
    private func claimed(_ page: SubscriberPage, by event: DecodedEvent) throws(RegistryError) -> SubscriberPage {
        let rows = page.subscriptions.filter(\.firesOnce).map(\.row)
        guard writes, !rows.isEmpty else { return page }
        let claimed = Set(try registry.claim(rows, for: event.digest, nowMilliseconds: nowMilliseconds()))
        var page = page
        page.entries.removeAll { entry in
            let subscription = page.subscriptions[entry.subscription]
            return subscription.firesOnce && !claimed.contains(subscription.row)
        }
        return page
    }

    private func badges(of page: SubscriberPage, _ event: DecodedEvent) throws(RegistryError) -> [ByteText: Int] {
        var deviceIDs: [String] = []
        var seen: Set<ByteText> = []
        for entry in page.entries where page.subscriptions[entry.subscription].notification.shouldBadge {
            if seen.insert(ByteText(entry.recipient.deviceID)).inserted { deviceIDs.append(entry.recipient.deviceID) }
        }
        guard writes, !deviceIDs.isEmpty else { return [:] }
        let badges = try registry.countBadges(
            deviceIDs, for: event.digest, isRepeated: event.retryState.deviceIDs != nil)
        return Dictionary(zip(deviceIDs.map(ByteText.init), badges), uniquingKeysWith: { first, _ in first })
    }
}
