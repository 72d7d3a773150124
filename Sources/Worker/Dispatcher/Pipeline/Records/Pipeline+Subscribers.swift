import Essentials
import Metrics
import Notifications
import PushCore

/// From the change of a record to the devices that are told of it.
extension Pipeline {
    /// Finds the subscribers of the record events of a batch, claims the subscriptions that fire once, and counts
    /// badges.
    ///
    /// - Parameter items: the events, all of records.
    /// - Returns: an audience for each.
    /// - Throws: `RegistryError` if the registry does not answer; then nothing has been begun, and what was claimed is
    ///   claimed by the same events again.
    func resolveSubscribers(_ items: [PreparedEvent]) throws(RegistryError) -> [ResolvedAudience] {
        guard !items.isEmpty else { return [] }
        try follower.catchUp()
        reportIndex()
        let requests = zip(items, try matchingSubscriptions(items)).map(request)
        let pages = try parts.subscriptions.resolveSubscribers(requests, limit: limits.devicesPerPageMaximum)
        var audiences: [ResolvedAudience] = []
        for (place, page) in pages.enumerated() {
            let item = items[place]
            if page.next != nil, let fanOut = try largeFanOut(item, asked: requests[place]) {
                audiences.append(.large(fanOut, firstDevices: []))
                continue
            }
            let claimed = try claimed(page, by: item)
            audiences.append(.subscribers(claimed, badges: try badges(of: claimed, item)))
        }
        return audiences
    }

    private func largeFanOut(
        _ item: PreparedEvent, asked request: SubscriberRequest
    ) throws(RegistryError) -> FanOut? {
        try largeFanOut(item) { () throws(RegistryError) in
            try parts.subscriptions.resolveSubscribers([request], limit: limits.fanOutThresholdDevices)[0].next != nil
        }
    }

    /// Shows the size of the index, if it has changed.
    func reportIndex() {
        guard follower.isChanged else { return }
        follower.isChanged = false
        metrics.subscriptions.set(follower.count)
        metrics.subscriptionPredicates.set(follower.distinctPredicateCount)
        metrics.subscriptionIndexBytes.set(follower.memoryBytes)
    }

    /// What to ask the registry of an event.
    private func request(_ item: PreparedEvent, subscriptions: [Int64]) -> SubscriberRequest {
        if let parked = item.parking.deviceIDs {
            return SubscriberRequest(subscriptions: [], only: parked.compactMap { Subscriber(parkedName: $0) })
        }
        let cursor = cursor(of: item).map { SubscriberCursor($0) }
        if let job = item.parking.chunk {
            // Those that were found when the event was planned, whatever the index knows by now.
            return SubscriberRequest(
                subscriptions: job.chunk.subscriptions, excludedDeviceID: item.excludedDeviceID, cursor: cursor,
                through: job.chunk.through.map { SubscriberCursor($0) }, asOfFanOut: job.fanOut)
        }
        return SubscriberRequest(
            subscriptions: subscriptions, excludedDeviceID: item.excludedDeviceID, cursor: cursor)
    }

    /// What is to be matched of a record event; nil if it has brought its subscriptions or devices along.
    private func matchedChange(of item: PreparedEvent) -> RecordChange? {
        guard item.parking.deviceIDs == nil, item.parking.chunk == nil, case .record(let change) = item.event.kind
        else { return nil }
        return change
    }

    /// The rows of the subscriptions that hear of each of some record events, in ascending order; none for an event
    /// that has brought its subscriptions or devices along.
    func matchingSubscriptions(_ items: [PreparedEvent]) throws(RegistryError) -> [[Int64]] {
        let changes = items.map(matchedChange)
        var found = follower.subscriptions(hearing: changes.compactMap { $0 }).makeIterator()
        var matching: [[Int64]] = []
        for (item, change) in zip(items, changes) {
            guard change != nil, let (rows, wasSlow) = found.next() else {
                matching.append([])
                continue
            }
            if wasSlow { metrics.matchedSlowly.add() }
            guard item.delivery.isRedelivered || item.parking.isParkedCopy || claiming.contains(item.digest) else {
                matching.append(rows)
                continue
            }
            // What it claimed at an earlier attempt has left the index since.
            let claimed = try parts.subscriptions.claimedSubscriptions(of: item.digest)
            matching.append(claimed.isEmpty ? rows : Set(rows).union(claimed).sorted())
        }
        return matching
    }

    /// The page without the subscriptions whose only push another event has fired.
    private func claimed(_ page: SubscriberPage, by item: PreparedEvent) throws(RegistryError) -> SubscriberPage {
        let rows = page.subscriptions.filter(\.subscription.firesOnce).map(\.row)
        guard !rows.isEmpty else { return page }
        claiming.insert(item.digest)
        let claimed = Set(
            try parts.subscriptions.claim(rows, for: item.digest, nowMilliseconds: parts.now().wall.milliseconds))
        var page = page
        page.entries.removeAll { entry in
            let stored = page.subscriptions[entry.subscription]
            return stored.subscription.firesOnce && !claimed.contains(stored.row)
        }
        return page
    }

    private func badges(of page: SubscriberPage, _ item: PreparedEvent) throws(RegistryError) -> [ByteText: Int] {
        var deviceIDs: [String] = []
        var seen: Set<ByteText> = []
        for entry in page.entries where page.subscriptions[entry.subscription].subscription.notification.shouldBadge {
            if seen.insert(ByteText(entry.recipient.deviceID)).inserted { deviceIDs.append(entry.recipient.deviceID) }
        }
        guard !deviceIDs.isEmpty else { return [:] }
        let badges = try parts.subscriptions.countBadges(
            deviceIDs, for: item.digest, isRepeated: item.parking.deviceIDs != nil)
        return Dictionary(zip(deviceIDs.map(ByteText.init), badges), uniquingKeysWith: { first, _ in first })
    }

    /// Begins the job of a record event.
    func begin(_ item: PreparedEvent, _ page: SubscriberPage, badges: [ByteText: Int]) {
        guard case .record(let change) = item.event.kind else { return }
        if !claiming.isEmpty { claiming.remove(item.digest) }
        var assembly = SubscriberJob(
            change: change, digest: item.digest, expiresAt: item.parking.expiresAt)
        for entry in page.entries where entry.recipient.platform != .gcm {
            let isAdded =
                entry.coveredBy == nil
                && assembly.add(
                    entry.recipient, page.subscriptions[entry.subscription],
                    badge: badges[ByteText(entry.recipient.deviceID)], renderer: &renderer)
            if !isAdded { machine.pushesCoalesced(1, app: renderer.appIndex(named: entry.recipient.app)) }
        }
        for (app, count) in assembly.reducedCounts { metrics.countReduced(count, app: app) }
        let isChunk = item.parking.chunk != nil
        let next = page.next.map { AudienceCursor($0) }
        if isChunk {
            chunkPageBegins(item, next: next)
        } else {
            metrics.countEvent(item.type, assembly.devices.isEmpty ? .unmatched : .dispatched)
        }
        let arrival = machine.jobArrived(
            DispatchJob(
                tags: isChunk ? [] : [item.delivery.tag], lane: item.delivery.lane, message: item.delivery.message,
                parking: item.parking,
                identity: PushIdentity(source: item.event.source, identifier: item.event.identifier),
                renderings: assembly.renderings, devices: assembly.devices, assignments: assembly.assignments,
                continuation: isChunk ? nil : next, chunk: isChunk ? item.delivery.tag : nil,
                changed: item.event.time),
            into: &actions)
        log(
            item, fate(item, assembly.devices.count, arrival),
            apps: assembly.renderings.reduce(into: []) { apps, rendering in
                if !apps.contains(rendering.app.name) { apps.append(rendering.app.name) }
            }, deviceCount: assembly.devices.count)
    }
}
