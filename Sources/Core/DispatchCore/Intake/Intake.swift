import ChangeEvents
import Essentials
import Messages
import Notifications
import RegistryCore

/// The interactive deliveries from their arrival until their audience is known: decoding, order within a dataset,
/// coalescing, and batches of questions to the registry.
///
/// | an event is | means | can transition to |
/// |---|---|---|
/// | waiting | received and not decoded | asked, ordered, or ended at once (rejected, expired, misdirected) |
/// | ordered | another event of its dataset is under way | waiting, when that one has ended |
/// | asked | its batch waits for the registry | begun, when the answer comes; gone, if its connection is lost |
///
/// Several batches may be with the registry at once, which may answer them in any order. An event waits for the one of
/// its dataset that is under way, so none overtakes another of its dataset. A batch that the registry could not answer
/// is sent again unchanged, so nothing is decoded twice.
struct Intake {
    /// The most deliveries of a batch.
    static let batchMaximum = 500
    /// The deliveries of the first batch, whose audiences are not known yet.
    static let batchFirst = 32

    /// The fewest deliveries of a batch while another one is asked, so that a slow stream shares a look-up.
    static let furtherBatchMinimum = 32

    /// Events whose audience is being asked for.
    struct Batch {
        /// Tells it from the others that are asked.
        let number: UInt64
        /// The events that need an audience, or are superseded by one that does.
        var events: [DecodedEvent] = []
        /// Which events one push stands for.
        var groups: [DatasetCoalescer.Group] = []

        /// The batch of some of the groups, with their events only.
        func part(_ number: UInt64, _ isMeant: (Int) -> Bool) -> Batch {
            var part = Batch(number: number)
            for (index, group) in groups.enumerated() where isMeant(index) {
                let first = part.events.count
                part.events.append(events[group.representative])
                for event in group.superseded { part.events.append(events[event]) }
                part.groups.append(
                    DatasetCoalescer.Group(
                        representative: first, superseded: Array(first + 1..<part.events.count),
                        excludedDeviceID: group.excludedDeviceID))
            }
            return part
        }
    }

    /// The results of decoding deliveries.
    struct Decoded {
        /// Deliveries that cannot be acted on, each with the reason.
        var rejected: [(delivery: Delivery, retryState: RetryState, rejection: EventRejection)] = []
        /// Deliveries that need no action, each with what they are.
        var skipped: [(delivery: Delivery, rejection: EventRejection)] = []
        /// Parts of large fan-outs that came by a work queue.
        var misdirected: [(delivery: Delivery, retryState: RetryState)] = []
        /// Events whose time had passed before they were decoded.
        var expired: [DecodedEvent] = []
        /// Deliveries whose publisher set headers that are Apus' own.
        var withIgnoredHeaders: [Delivery] = []
        /// The number of the batch of those that need an audience; nil if none does.
        var batchNumber: UInt64?
    }

    private let decoder: EventDecoder
    private var queue = DeliveryQueue()
    private var serializer = DatasetSerializer()
    private var recent = RecentChanges()
    /// The events that ask to be pushed once.
    var memory: EventMemory
    private var batchSize = Intake.batchFirst
    private var lastBatchNumber: UInt64 = 0
    /// The batches that were asked and not answered, in the order of their numbers.
    private(set) var asked: [Batch] = []

    /// Begins without deliveries.
    ///
    /// - Parameters:
    ///   - sources: the tables whose changed rows are events.
    ///   - memory: the events that ask to be pushed once.
    init(
        sources: TableSources = TableSources(),
        memory: EventMemory = EventMemory(isOn: false)
    ) {
        decoder = EventDecoder(sources: sources)
        self.memory = memory
    }

    /// Whether nothing waits to be asked.
    var isEmpty: Bool { queue.isEmpty }

    // MARK: Arrival

    /// Deliveries came.
    mutating func received(_ deliveries: [Delivery]) { queue.append(deliveries) }

    /// Decodes a delivery: its event, its history, and its trace.
    ///
    /// - Throws: `EventRejection` if it cannot be acted on.
    func decode(
        _ delivery: Delivery, _ retryState: RetryState, with renderer: inout ContentRenderer,
        tracing spans: inout DeliverySpans?, at now: Moment
    ) throws(EventRejection) -> DecodedEvent {
        var retryState = retryState
        let event = try decoder.decode(delivery.message)
        retryState.limitLife(to: event)
        let renderings = try renderer.validate(event, expiresAt: retryState.expiresAt)
        let trace =
            spans?.deliveryReceived(delivery, event, retryState, at: now)
            ?? event.trace.map { EventTrace(passedOn: $0) }
        return DecodedEvent(
            delivery: delivery, retryState: retryState, event: event, renderings: renderings, trace: trace)
    }

    /// The readable parts of a message that is no event.
    func outline(of message: Message) -> EventOutline { decoder.outline(of: message) }

    // MARK: Batches

    /// Decodes the next deliveries, and keeps those that need an audience as the next batch.
    ///
    /// - Parameters:
    ///   - moment: the time.
    ///   - batchesMaximum: the most batches that may be asked at once.
    ///   - renderer: validates requested pushes.
    ///   - spans: makes the spans of recorded events.
    /// - Returns: the results of the others; nil if nothing waits, or if too little waits while others are asked.
    mutating func decodeBatch(
        at moment: Moment, batchesMaximum: Int, with renderer: inout ContentRenderer,
        tracing spans: inout DeliverySpans?
    ) -> Decoded? {
        let now = moment.wall
        guard asked.isEmpty || asked.count < batchesMaximum && queue.count >= Self.furtherBatchMinimum else {
            return nil
        }
        let deliveries = queue.takeFirst(batchSize)
        guard !deliveries.isEmpty else { return nil }
        var decoded = Decoded()
        var events: [DecodedEvent] = []
        events.reserveCapacity(deliveries.count)
        for delivery in deliveries {
            let retryState = RetryState(of: delivery, nowMilliseconds: now.milliseconds)
            if retryState.ignoresHeaders { decoded.withIgnoredHeaders.append(delivery) }
            guard !retryState.isBulk else {
                decoded.misdirected.append((delivery, retryState))
                continue
            }
            do throws(EventRejection) {
                let event = try decode(delivery, retryState, with: &renderer, tracing: &spans, at: moment)
                if event.isFresh, event.retryState.hasExpired(nowMilliseconds: now.milliseconds) {
                    decoded.expired.append(event)
                    forgetCounts(event, at: now)
                } else if memory.admits(event, at: moment.monotonic) {
                    events.append(event)
                }
            } catch {
                if error.reason == .skipped {
                    decoded.skipped.append((delivery, error))
                } else {
                    decoded.rejected.append((delivery, retryState, error))
                }
            }
        }
        let number = lastBatchNumber + 1
        let areJoined = keepOrder(&events, of: number)
        for event in events { forgetCounts(event, at: now) }
        if !events.isEmpty {
            lastBatchNumber = number
            decoded.batchNumber = number
            asked.append(Batch(number: number, events: events, groups: Self.groups(of: events, areJoined: areJoined)))
        }
        return decoded
    }

    /// Takes out the events whose dataset has another event under way, or before them in this batch, unless both are
    /// fresh changes, which coalesce; all that stay are under way.
    ///
    /// - Returns: whether some of them coalesce.
    private mutating func keepOrder(_ events: inout [DecodedEvent], of batch: UInt64) -> Bool {
        var areJoined = false
        events.removeAll { event in
            guard let dataset = event.dataset else { return false }
            let coalesces = event.isFresh && event.type == .datasetChanged
            switch serializer.admit(event.delivery, for: dataset, of: batch, coalesces: coalesces) {
            case .begins: return false
            case .joins:
                areJoined = true
                return false
            case .waits:
                queue.append(memory.abandon(event.delivery.tag))
                return true
            }
        }
        return areJoined
    }

    private static func groups(of events: [DecodedEvent], areJoined: Bool) -> [DatasetCoalescer.Group] {
        var coalescer = DatasetCoalescer()
        for (index, event) in events.enumerated() {
            if areJoined, case .dataset(let change) = event.event.kind, event.isFresh {
                coalescer.add(change, at: index)
            } else {
                coalescer.addAlone(at: index)
            }
        }
        return coalescer.result
    }

    /// The questions of a batch that is asked.
    ///
    /// - Parameters:
    ///   - number: the number of the batch.
    ///   - mayBePlanned: whether the registry can keep large fan-outs, as far as is known.
    /// - Returns: a question for each group of the batch.
    func questions(of number: UInt64, mayBePlanned: Bool) -> [AudienceQuestion] {
        guard let batch = asked.first(where: { $0.number == number }) else { return [] }
        return batch.groups.map { group in
            let event = batch.events[group.representative]
            var question = AudienceQuestion(
                event: event,
                excludedDeviceID: group.superseded.isEmpty ? event.excludedDeviceID : group.excludedDeviceID,
                cursor: event.retryState.cursor,
                mayBePlanned: mayBePlanned && event.mayBePlanned && event.refusedTargets == nil)
            if memory.isInUse {
                question.identities = memory.identities(
                    of: ([group.representative] + group.superseded).map { batch.events[$0] })
            }
            return question
        }
    }

    /// The registry has answered for a batch.
    ///
    /// The next batch is as large as finds the wanted number of devices, if its audiences are as large as those of this
    /// one. The groups whose answer is `later` stay here as a batch of their own, to be asked again.
    ///
    /// - Parameters:
    ///   - number: the number of the batch.
    ///   - audiences: the answers, one for each of its groups.
    ///   - wanted: how many devices a batch is to find.
    /// - Returns: the batch, which is to be begun now; nil if its connection was lost meanwhile.
    mutating func answered(_ number: UInt64, _ audiences: [AudienceResult], devicesWanted wanted: Int) -> Batch? {
        guard let index = asked.firstIndex(where: { $0.number == number }) else { return nil }
        let batch = asked.remove(at: index)
        assert(batch.groups.count == audiences.count, "the registry answers each question")
        let deviceCount = audiences.reduce(0) { $0 + $1.deviceCount }
        let laterCount = audiences.count { $0.isLater }
        let fitting = deviceCount > 0 ? (audiences.count - laterCount) * wanted / deviceCount : Self.batchMaximum
        batchSize = min(max(1, fitting), Self.batchMaximum)
        if laterCount > 0 {
            lastBatchNumber += 1
            asked.append(batch.part(lastBatchNumber) { audiences[$0].isLater })
        }
        return batch
    }

    /// Puts deliveries back that could not be begun, before all others.
    mutating func putBack(_ deliveries: [Delivery]) {
        queue.putBack(deliveries + deliveries.flatMap { memory.abandon($0.tag) })
    }

    /// An event that has begun will not be remembered: the copies that waited for it begin.
    mutating func forgo(_ tag: DeliveryTag) { queue.append(memory.abandon(tag)) }

    // MARK: Order within a dataset

    /// Whether an event of a dataset is under way.
    func isUnderWay(_ dataset: DatasetKey) -> Bool { serializer.isBusy(dataset) }

    /// An event of a dataset is under way, until `ended`.
    mutating func begins(_ dataset: DatasetKey) { serializer.begin(dataset) }

    /// The event of a dataset that was under way has ended: the others of the dataset can be decoded.
    mutating func ended(_ dataset: DatasetKey) { queue.append(serializer.end(dataset)) }

    /// A deletion resets the sync counts of its dataset, even if its own event expires.
    private mutating func forgetCounts(_ event: DecodedEvent, at now: WallTime) {
        guard event.isFresh, case .dataset(let change) = event.event.kind, change.operation != .changed else { return }
        recent.forget(change.key, at: now)
    }

    /// Records sync counts that devices have got, so that they get none that is older.
    mutating func noteTold(_ devices: [(deviceID: String, announcement: DatasetAnnouncement)]) {
        for (deviceID, announcement) in devices { recent.noteTold(deviceID, of: announcement) }
    }

    /// The devices that have got a state that is not older from this worker, by another event.
    func alreadyTold(among devices: [Recipient], of announcement: DatasetAnnouncement) -> [Recipient] {
        devices.filter { recent.isRedundant(announcement, for: $0.deviceID) }
    }

    // MARK: The connection

    /// The connection is lost: deliveries that have not begun come again.
    ///
    /// - Parameter epoch: the first connection whose deliveries are good.
    mutating func sourceLost(before epoch: UInt32) {
        queue.removeAll { $0.tag.epoch < epoch }
        serializer.forgetWaiting { $0.tag.epoch >= epoch }
        memory.sourceLost(before: epoch)
        abandonBatches { batch in batch.events.contains { $0.delivery.tag.epoch < epoch } }
    }

    /// Drops all that was not begun, which the broker delivers to somebody else.
    mutating func drain() {
        queue.removeAll()
        serializer.forgetWaiting()
        memory.drain()
        abandonBatches { _ in true }
    }

    private mutating func abandonBatches(where isLost: (Batch) -> Bool) {
        let lost = asked.filter(isLost)
        asked.removeAll(where: isLost)
        for event in lost.flatMap(\.events) {
            if let dataset = event.dataset { ended(dataset) }
            forgo(event.delivery.tag)
        }
    }
}

/// Deliveries that were received and not begun, in order; never more than the prefetch.
struct DeliveryQueue: Sendable {
    private var deliveries: [Delivery] = []
    private var front = 0

    mutating func append(_ more: [Delivery]) {
        if front == deliveries.count, !deliveries.isEmpty { removeAll() }
        deliveries.append(contentsOf: more)
    }

    mutating func takeFirst(_ maximum: Int) -> [Delivery] {
        if front == 0, deliveries.count <= maximum {
            defer { deliveries = [] }
            return deliveries
        }
        let end = min(deliveries.count, front + maximum)
        defer {
            front = end
            if front == deliveries.count { removeAll() }
        }
        return Array(deliveries[front..<end])
    }

    /// Puts a batch back that could not be begun.
    mutating func putBack(_ batch: [Delivery]) {
        deliveries = batch + deliveries[front...]
        front = 0
    }

    /// Whether none waits.
    var isEmpty: Bool { front == deliveries.count }

    /// How many wait.
    var count: Int { deliveries.count - front }

    mutating func removeAll(where condition: (Delivery) -> Bool) {
        deliveries = deliveries[front...].filter { !condition($0) }
        front = 0
    }

    mutating func removeAll() {
        deliveries.removeAll(keepingCapacity: true)
        front = 0
    }
}
