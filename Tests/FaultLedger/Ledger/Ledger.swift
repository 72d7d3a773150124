import Notifications

/// Compares what a broker confirmed with what devices got.
///
/// A value without input and output: events and confirms come from the publisher, accepted pushes from the simulators'
/// records, both at the end of a scenario or as they come.
struct Ledger: Sendable {
    /// The identity of a push that a device may get at most once.
    private struct PushKey: Hashable {
        enum Subject: Hashable {
            case change(syncCount: Int)
            case request(number: Int)
        }

        let device: Int
        let subject: Subject
    }

    private static let detailsMaximum = 5

    private let population: Population
    private var events: [LedgerEvent] = []
    private var confirmedMilliseconds: [Int: Int64] = [:]
    /// When each push was accepted first.
    private var firstMilliseconds: [PushKey: Int64] = [:]
    /// Accepted sync counts of each device, with the time of each.
    private var changes: [Int: SyncCountTimes] = [:]
    private var greatestSyncCount: [Int: Int] = [:]
    private var pushCount = 0
    private var duplicateCount = 0
    /// The identifiers of the alerts that devices show.
    private var replacementIDs: [PushKey: String] = [:]
    private var shownTwiceCount = 0
    private var strangers: [AcceptedPush] = []
    private var queued: Set<String> = []
    private var unreadCount = 0
    private var deadLettered: Set<String> = []
    private var destroyedMaximum = 0
    private var destroyedMilliseconds: Int64 = 0
    private var removedDevices: Set<Int> = []
    private var outcomes = OutcomeBook()
    /// The numbers of the events that say that an identity has a sync count.
    private var changeNumbers: [Int: [Int: Int]] = [:]

    /// Creates an empty ledger.
    ///
    /// - Parameter population: the devices that there are.
    init(population: Population) { self.population = population }

    // MARK: Events

    /// An event is handed to the broker; numbers come one after the other, from 0.
    mutating func attempted(_ event: LedgerEvent) {
        precondition(event.number == events.count, "the numbers of events have no gaps")
        events.append(event)
        guard case .change(let identity, let syncCount) = event.content else { return }
        greatestSyncCount[identity] = syncCount
        changeNumbers[identity, default: [:]][syncCount] = event.number
    }

    /// The broker confirmed an event.
    mutating func confirmed(_ number: Int, atMilliseconds milliseconds: Int64) {
        confirmedMilliseconds[number] = milliseconds
    }

    /// A simulator accepted a push.
    mutating func accepted(_ push: AcceptedPush) {
        pushCount += 1
        guard let key = expectedKey(push) else {
            strangers.append(push)
            return
        }
        if firstMilliseconds[key] != nil {
            duplicateCount += 1
            if push.isAlert, push.replacementID == nil || push.replacementID != replacementIDs[key] {
                shownTwiceCount += 1
            }
        }
        replacementIDs[key] = push.replacementID
        firstMilliseconds[key] = min(firstMilliseconds[key] ?? .max, push.timeMilliseconds)
        if case .change(let syncCount) = key.subject {
            changes[key.device, default: SyncCountTimes()].append(
                syncCount: syncCount, atMilliseconds: push.timeMilliseconds)
        }
    }

    /// The backend was told that a push has ended for good.
    mutating func told(deviceNamed name: String, ofEvent identifier: String, kind: OutcomeKind) {
        guard let device = population.device(named: name), let event = Int(identifier.dropFirst()) else { return }
        outcomes.ended(.init(device: device, event: event), as: kind)
    }

    /// At the end a message with this identifier stands in a queue.
    mutating func isQueued(_ identifier: String) { queued.insert(identifier) }

    /// At the end so many messages stand in a queue that does not let them be read.
    ///
    /// Those of a retry queue whose time is over, and which RabbitMQ has not been able to hand over to the work queue.
    mutating func holdsUnread(_ count: Int) { unreadCount += count }

    /// At the end a message with this identifier is a dead letter.
    mutating func isDeadLettered(_ identifier: String) { deadLettered.insert(identifier) }

    /// The scenario deleted queues with messages in them.
    ///
    /// - Parameters:
    ///   - count: how many messages the broker said that there were; no more events than these are excused.
    ///   - milliseconds: only events that had been confirmed by then.
    mutating func mayBeDestroyed(_ count: Int, confirmedByMilliseconds milliseconds: Int64) {
        destroyedMaximum = count
        destroyedMilliseconds = milliseconds
    }

    /// At the end a device is no longer registered, so what was for it need not have arrived.
    mutating func isRemoved(_ device: Int) { removedDevices.insert(device) }

    // MARK: Results

    /// The same ledger, ready to be asked about many events.
    private func prepared() -> Ledger {
        var ledger = self
        for device in changes.keys { ledger.changes[device]?.prepare() }
        return ledger
    }

    /// The numbers of the confirmed events of which a push is still to be accepted, or that make none.
    var missing: [Int] {
        let ledger = prepared()
        return confirmedMilliseconds.keys.filter { ledger.deliveredMilliseconds(events[$0]) == nil }.sorted()
    }

    /// The confirmed events of which a push to one of some devices is still to be accepted.
    ///
    /// - Parameters:
    ///   - milliseconds: only events that had been confirmed by then, in milliseconds since 1970.
    ///   - isAsked: tells whether a device is one of them.
    /// - Returns: their numbers.
    func missing(confirmedByMilliseconds milliseconds: Int64, to isAsked: (Int) -> Bool) -> [Int] {
        let ledger = prepared()
        return confirmedMilliseconds.filter { $0.value <= milliseconds }.keys.filter { number in
            let devices = population.audience(of: events[number]).filter(isAsked)
            return ledger.deliveredMilliseconds(events[number], to: devices) == nil
        }.sorted()
    }

    /// The counts.
    func counts() -> LedgerCounts {
        let ledger = prepared()
        var counts = LedgerCounts()
        counts.removed = removedDevices.count { population.role(of: $0) != .gone }
        counts.attempted = events.count
        counts.confirmed = confirmedMilliseconds.count
        counts.pushes = pushCount
        counts.duplicated = duplicateCount
        counts.shownTwice = shownTwiceCount
        counts.unexpected = strangers.count
        counts.details = strangers.prefix(Self.detailsMaximum).map { "unexpected: \($0)" }
        for number in missing {
            let event = events[number]
            if queued.contains(event.identifier) {
                counts.queued += 1
            } else if deadLettered.contains(event.identifier) || ledger.isSaidByDeadLetter(event) {
                counts.deadLettered += 1
                if event.content != .broken { counts.soundDeadLettered += 1 }
            } else if counts.destroyed < destroyedMaximum,
                confirmedMilliseconds[number, default: .max] <= destroyedMilliseconds
            {
                counts.destroyed += 1
            } else if counts.unread < unreadCount, event.content != .broken {
                counts.unread += 1
                counts.queued += 1
            } else {
                counts.lost += 1
                if counts.lost <= Self.detailsMaximum { counts.details.append("lost: \(event)") }
            }
        }
        counts.untold = max(0, untold.count - destroyedMaximum * Population.pushesPerEventMaximum)
        if counts.untold > 0 { counts.details += untold.prefix(Self.detailsMaximum).map { "untold: \($0)" } }
        counts.toldAgain = outcomes.repeatedCount
        counts.delivered = counts.confirmed - counts.queued - counts.deadLettered - counts.destroyed - counts.lost
        return counts
    }

    /// Whether the pushes of a change were left out for those of a newer change, which has become a dead letter.
    ///
    /// The backend must have been told so for each device that no newer push has reached. Else the change is lost.
    private func isSaidByDeadLetter(_ event: LedgerEvent) -> Bool {
        guard case .change(let identity, let syncCount) = event.content,
            changeNumbers[identity, default: [:]].contains(where: { newer, number in
                newer > syncCount && deadLettered.contains(events[number].identifier)
            })
        else { return false }
        return population.audience(of: event).allSatisfy { device in
            removedDevices.contains(device) || changes[device]?.firstMilliseconds(reaching: syncCount) != nil
                || outcomes.isCoalesced(.init(device: device, event: event.number))
        }
    }

    /// The accepted pushes that the backend was not told of, though their event has left the queues.
    private var untold: [OutcomeBook.Key] {
        firstMilliseconds.keys.compactMap { key in
            let number: Int? =
                switch key.subject {
                case .change(let syncCount): changeNumbers[Population.identity(of: key.device)]?[syncCount]
                case .request(let number): number
                }
            guard let number, !queued.contains(events[number].identifier) else { return nil }
            let push = OutcomeBook.Key(device: key.device, event: number)
            return outcomes.has(push) ? nil : push
        }
    }

    /// When the last push was accepted of the events that had been confirmed by then and were delivered.
    ///
    /// - Parameter milliseconds: the end of a fault, in milliseconds since 1970.
    /// - Returns: the time in the same unit.
    func settledMilliseconds(ofEventsConfirmedBy milliseconds: Int64) -> Int64 {
        let ledger = prepared()
        var latest = milliseconds
        for (number, confirmed) in confirmedMilliseconds where confirmed <= milliseconds {
            latest = max(latest, ledger.deliveredMilliseconds(events[number]) ?? 0)
        }
        return latest
    }

    /// When the last push of an event was accepted; nil if one was not.
    private func deliveredMilliseconds(_ event: LedgerEvent) -> Int64? {
        event.content == .broken ? nil : deliveredMilliseconds(event, to: population.audience(of: event))
    }

    /// When the last push of an event to some devices was accepted; nil if one was not.
    private func deliveredMilliseconds(_ event: LedgerEvent, to devices: [Int]) -> Int64? {
        var latest: Int64 = 0
        for device in devices where !removedDevices.contains(device) {
            let milliseconds: Int64? =
                switch event.content {
                case .change(_, let syncCount):
                    changes[device]?.firstMilliseconds(reaching: syncCount)
                case .request, .record, .announcement, .broken:
                    firstMilliseconds[PushKey(device: device, subject: .request(number: event.number))]
                }
            guard let milliseconds else { return nil }
            latest = max(latest, milliseconds)
        }
        return latest
    }

    /// Returns the key of a push; nil unless an event of the load asks for it and its device has a right to it.
    private func expectedKey(_ push: AcceptedPush) -> PushKey? {
        guard let device = population.device(token: push.token) else { return nil }
        switch push.content {
        case .change(let identity, let syncCount):
            let owner = Population.identity(of: device)
            guard Population.identityText(owner) == identity, population.followsChanges(device),
                syncCount >= 1, syncCount <= greatestSyncCount[owner, default: 0]
            else { return nil }
            return PushKey(device: device, subject: .change(syncCount: syncCount))
        case .request(let number):
            guard events.indices.contains(number), events[number].isPushedByNumber,
                population.isAddressed(device, by: events[number])
            else { return nil }
            return PushKey(device: device, subject: .request(number: number))
        case .other: return nil
        }
    }
}

/// An event of the load: what was published, and its audience.
struct LedgerEvent: Sendable, Hashable {
    /// The kinds of event that the load is made of.
    enum Content: Sendable, Hashable {
        /// The dataset of an identity has changed; a push with a newer sync count says the same.
        case change(identity: Int, syncCount: Int)
        /// A push to these devices was asked for; it has to arrive as it is.
        case request(devices: [Int])
        /// A record was created that the user of a room has subscribed to, by a predicate.
        case record(room: Int)
        /// A push to all devices of the crowd was asked for, which is more than a worker takes at once.
        case announcement
        /// It cannot be processed: it has to become a dead letter.
        case broken
    }

    /// Its index in the load, from 0.
    let number: Int
    let content: Content

    /// Whether its pushes bear its number, so that each of them has to arrive.
    var isPushedByNumber: Bool {
        switch content {
        case .change, .broken: false
        case .request, .record, .announcement: true
        }
    }

    /// The `id` of the event, which is also the message's.
    var identifier: String { "e\(number)" }
}

/// The counts of a ledger, in the manner of RabbitMQ's Jepsen suite.
struct LedgerCounts: Sendable, Hashable {
    /// Events that were handed to the broker, whatever it said.
    var attempted = 0
    /// Events that the broker confirmed.
    var confirmed = 0
    /// Confirmed events of which every push was accepted, or said by a newer one.
    var delivered = 0
    /// Confirmed events that stand in a queue at the end and have not all been pushed.
    var queued = 0
    /// Of those that are queued, how many are taken to be the messages that cannot be read.
    var unread = 0
    /// Confirmed events that are dead letters, or were coalesced into one, and have not all been pushed; the broken
    /// ones have to be here.
    var deadLettered = 0
    /// Of the dead letters, those that are not broken.
    var soundDeadLettered = 0
    /// Confirmed events that a scenario destroyed by its own hand, together with the queue that held them.
    var destroyed = 0
    /// Confirmed events that are nowhere.
    var lost = 0
    /// Accepted pushes that no event asked for, or that went to a device that had not asked for them.
    var unexpected = 0
    /// Devices that are no longer registered, besides those that were gone from the start.
    var removed = 0
    /// Accepted pushes beyond the first of the same content to the same device.
    var duplicated = 0
    /// Of these, alerts that stand on the device beside the first: they do not take its place.
    var shownTwice = 0
    /// Pushes that were accepted, all in all.
    var pushes = 0
    /// Accepted pushes that the backend was not told of.
    var untold = 0
    /// How often the backend was told of an acceptance again.
    var toldAgain = 0
    /// The first few lost or unexpected pushes, for a search for the reason.
    var details: [String] = []
}
