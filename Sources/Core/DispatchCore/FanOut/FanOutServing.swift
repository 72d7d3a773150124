public import ChangeEvents
public import Essentials
public import RegistryCore

/// Serves bulk deliveries page by page: which page to ask for next, and when the delivery of a chunk may be settled.
///
/// | a delivery is | means | can transition to |
/// |---|---|---|
/// | waiting | its next page is to be asked for | asked; released if its connection is lost or the worker drains |
/// | asked | the registry resolves its page | waiting, if the page failed or is not the last; out, if it is |
/// | out | its last page has begun | ended, when all its pages have ended |
/// | ended | its ending is to be recorded | settled, when the registry keeps it or can only be read |
///
/// A continuation is released when its page begins: its delivery ends with that job. So is a chunk that another worker
/// has served before. A chunk with a page that cannot be rendered ends with its dead letter. It is not recorded,
/// because a replay of the letter has to serve it. A chunk whose copies the broker refuses ends with its rejection.
///
/// Turns and bounds:
/// - Flows take turns, a page each. A flow has at most one page asked for, and all flows have `pagesAskedMaximum`.
/// - The chunks of a flow are served one after the other. While pages of one chunk are out and none is left to begin,
///   `pagesAheadMaximum` pages of the next may begin, so that the connections do not idle between two chunks. A crash
///   repeats at most these pages beside the chunk.
///
/// Methods are named after events; the resulting actions are appended to `Actions`. Time is an argument.
public struct FanOutServing: Sendable {
    /// The most pages of a chunk that begin while pushes of the chunk before it are out.
    public static let pagesAheadMaximum = 1
    /// The time between two looks at flows that may hang, if nothing happens meanwhile, in milliseconds.
    static let lookDelayMilliseconds: UInt64 = 1_000

    let hasSeveralApps: Bool
    private let pagesAskedMaximum: Int
    let repeatDelayNanoseconds: UInt64
    var queue = FanOutQueue()
    /// The deliveries with a requested page, in the order of the requests.
    var asked: [FanOutDelivery] = []
    /// The chunks that have begun and not ended.
    var chunks: [DeliveryTag: FanOutChunkProgress] = [:]
    var chunksBegun: UInt64 = 0
    var endings = FanOutEndings()
    /// The flows that hung at the last look.
    var hanging: [FanOutFlow] = []
    var askAgainAt: MonotonicTime?
    var lookAgainAt: MonotonicTime?
    /// The deliveries of earlier connections are lost.
    var firstGoodEpoch: UInt32 = 0
    var isDraining = false

    /// Creates a machine without deliveries.
    ///
    /// - Parameters:
    ///   - hasSeveralApps: whether more than one app is configured, so that one that hangs makes room for the others.
    ///   - repeatDelayNanoseconds: the time after which a registry that did not answer is asked again.
    ///   - pagesAskedMaximum: the most pages that are asked for at once, over all flows.
    public init(hasSeveralApps: Bool, repeatDelayNanoseconds: UInt64, pagesAskedMaximum: Int = 4) {
        precondition(pagesAskedMaximum > 0, "no page could be served")
        self.hasSeveralApps = hasSeveralApps
        self.repeatDelayNanoseconds = repeatDelayNanoseconds
        self.pagesAskedMaximum = pagesAskedMaximum
    }

    // MARK: State

    /// Whether no chunk is left to serve or to record.
    public var isEmpty: Bool { queue.isEmpty && asked.isEmpty && chunks.isEmpty && endings.isEmpty }

    /// Whether a delivery waits for a page to be asked for.
    public var isWaiting: Bool { !queue.isEmpty }

    /// Whether a page of a delivery is asked for and still wanted.
    public func isAsked(_ tag: DeliveryTag) -> Bool { asked.contains { $0.tag == tag } }

    /// The time when `tick` has something to do, if nothing happens until then; nil if it has not.
    public var nextDeadline: MonotonicTime? {
        [queue.isEmpty ? nil : askAgainAt, lookAgainAt, endings.askAgainAt].compactMap { $0 }.min()
    }

    // MARK: Round robin

    /// A bulk delivery arrived, or could not be put into a retry queue.
    ///
    /// A worker that drains takes none: it stays with the broker.
    public mutating func arrived(_ delivery: FanOutDelivery) {
        guard !isDraining else { return }
        assert(chunks[delivery.tag] == nil && !isAsked(delivery.tag), "a delivery arrived twice")
        queue.append(delivery)
    }

    /// Returns the flow that is served next, if a page may be asked for now; `takeNextPage` takes it.
    ///
    /// - Parameters:
    ///   - now: the time.
    ///   - mayServe: whether a page of a delivery may be asked for; if not, its flow is passed over. Called for the
    ///     first delivery of each flow until one may be served.
    /// - Returns: the flow; nil if no page may be asked for.
    public func nextFlow(at now: MonotonicTime, mayServe: (FanOutDelivery) -> Bool) -> FanOutFlow? {
        guard asked.count < pagesAskedMaximum else { return nil }
        if let askAgainAt, now < askAgainAt { return nil }
        return queue.first { first in
            !asked.contains { $0.flow == first.flow } && mayBeginNextPage(first) && mayServe(first)
        }?.flow
    }

    /// A page of the first delivery of a flow is asked for.
    ///
    /// - Parameter flow: the answer of `nextFlow`.
    /// - Returns: the page to resolve. One of `pageFailed`, `pageResolved`, `pageRejected` and `chunkIsOver` must
    ///   follow, unless `Actions.pagesAbandoned` names it. Nil if nothing of the flow waits.
    public mutating func takeNextPage(of flow: FanOutFlow) -> PageRequest? {
        guard let delivery = queue.takeFirst(of: flow) else {
            assertionFailure("nothing of the flow waits")
            return nil
        }
        asked.append(delivery)
        return PageRequest(
            tag: delivery.tag, key: delivery.key, cursor: chunks[delivery.tag]?.cursor ?? delivery.cursor)
    }

    /// Whether the chunks of its flow that have begun before a delivery let its next page begin.
    private func mayBeginNextPage(_ delivery: FanOutDelivery) -> Bool {
        let own = chunks[delivery.tag]
        let before = chunks.values.filter { $0.flow == delivery.flow && $0.order < own?.order ?? .max }
        assert(before.allSatisfy(\.isRead), "a chunk that has a page left is the first of its flow")
        return before.isEmpty || before.count == 1 && own?.pagesBegun ?? 0 < Self.pagesAheadMaximum
    }

    // MARK: Pages

    /// The registry did not resolve a page: it is asked for again after a while, before all else of its flow.
    public mutating func pageFailed(_ tag: DeliveryTag, at now: MonotonicTime) {
        guard let delivery = takeAsked(tag) else { return }
        queue.putInFront(delivery)
        askAgainAt = now.advanced(byNanoseconds: repeatDelayNanoseconds)
    }

    /// A page was resolved, and its job begins.
    ///
    /// - Parameters:
    ///   - tag: the delivery.
    ///   - next: the position after the page; nil if it is the last of the delivery's audience.
    ///   - now: the time.
    ///   - actions: receives the actions.
    public mutating func pageResolved(
        _ tag: DeliveryTag, next: AudienceCursor?, at now: MonotonicTime, into actions: inout Actions
    ) {
        guard let delivery = takeAsked(tag) else { return }
        guard let key = delivery.key else { return actions.released.append(tag) }
        changeChunk(delivery, key) { $0.pageBegins(next: next, at: now) }
        if next != nil { queue.putInFront(delivery) }
    }

    /// A page cannot be rendered: a dead letter of its delivery goes out as a job, and no further page begins.
    public mutating func pageRejected(_ tag: DeliveryTag, at now: MonotonicTime, into actions: inout Actions) {
        guard let delivery = takeAsked(tag) else { return }
        guard let key = delivery.key else { return actions.released.append(tag) }
        changeChunk(delivery, key) { $0.deadLetterGoesOut(at: now) }
    }

    /// The registry says that a chunk is not to be served any more.
    public mutating func chunkIsOver(_ tag: DeliveryTag, _ state: FanOutChunkState, into actions: inout Actions) {
        guard let delivery = takeAsked(tag) else { return }
        guard let key = delivery.key, state != .waiting else {
            assertionFailure("only a chunk can be over")
            return queue.putInFront(delivery)
        }
        if chunks[tag] == nil, state == .served {
            actions.counts.chunksRepeated += 1
            actions.released.append(tag)
            return actions.settles.append(tag)
        }
        changeChunk(delivery, key) { $0.stops(isCancelled: state == .cancelled) }
        endIfOver(tag, into: &actions)
    }

    /// All pushes of a page of a chunk have ended, or its dead letter is with the broker.
    ///
    /// - Parameters:
    ///   - tag: the delivery.
    ///   - refusal: the reason why the broker takes no copy of something of the page, now or later; nil if it took all.
    ///   - actions: receives the actions.
    public mutating func pageEnded(_ tag: DeliveryTag, refusal: String? = nil, into actions: inout Actions) {
        guard chunks[tag] != nil else {
            assert(tag.epoch < firstGoodEpoch, "a page ended of a chunk that has not begun")
            return
        }
        if let refusal { chunks[tag]?.refusal = refusal }
        chunks[tag]?.pageEnded()
        endIfOver(tag, into: &actions)
    }

    private mutating func takeAsked(_ tag: DeliveryTag) -> FanOutDelivery? {
        guard let index = asked.firstIndex(where: { $0.tag == tag }) else {
            assertionFailure("an answer came to a page that is not asked for")
            return nil
        }
        return asked.remove(at: index)
    }

    private mutating func changeChunk(
        _ delivery: FanOutDelivery, _ key: FanOutChunkKey, _ change: (inout FanOutChunkProgress) -> Void
    ) {
        if chunks[delivery.tag] == nil { chunksBegun += 1 }
        var chunk = chunks[delivery.tag] ?? FanOutChunkProgress(delivery, key: key, order: chunksBegun)
        change(&chunk)
        chunks[delivery.tag] = chunk
    }

    private mutating func endIfOver(_ tag: DeliveryTag, into actions: inout Actions) {
        guard let chunk = chunks[tag], chunk.hasEnded else { return }
        chunks[tag] = nil
        actions.released.append(tag)
        if let refusal = chunk.refusal {
            actions.counts.chunksRejected += 1
            actions.rejections.append(Rejection(tag: tag, detail: refusal))
        } else if chunk.isDeadLetter {
            actions.counts.chunksRejected += 1
            actions.settles.append(tag)
        } else {
            endings.append(tag, FanOutChunkEnding(chunk.key, isCancelled: chunk.isCancelled))
        }
    }
}

/// A delivery of a chunk is settled after the registry keeps that the chunk has ended.
extension FanOutServing {
    /// A tick has come, or the time of `nextDeadline`: the endings since the last tick are recorded together.
    public mutating func tick(at now: MonotonicTime, into actions: inout Actions) {
        if let time = askAgainAt, time <= now { askAgainAt = nil }
        if let time = lookAgainAt, time <= now { lookAgainAt = nil }
        actions.endingsToRecord += endings.begin(at: now)
    }

    /// The registry keeps the endings of the request under way.
    public mutating func endingsRecorded(into actions: inout Actions) {
        for (tag, ending) in endings.finish() {
            actions.settles.append(tag)
            if ending.isCancelled {
                actions.counts.chunksCancelled += 1
            } else {
                actions.counts.chunksServed += 1
            }
        }
    }

    /// The registry does not keep the endings of the request under way.
    ///
    /// A registry that can only be read will not keep them later either. Then the deliveries are settled, and a chunk
    /// that the broker delivers again is served again. After any other error the request is made again.
    public mutating func endingsNotRecorded(
        _ error: RegistryError, at now: MonotonicTime, into actions: inout Actions
    ) {
        actions.counts.registryFailures += 1
        actions.notices.append(.endingsNotRecorded(count: endings.countUnderWay, error))
        if error.code == .readOnly {
            endingsRecorded(into: &actions)
        } else {
            endings.repeatRequest(at: now.advanced(byNanoseconds: repeatDelayNanoseconds))
        }
    }
}

/// Deliveries that leave the worker before they have been served to their end.
extension FanOutServing {
    // MARK: The connection

    /// The connection is lost, so the broker delivers unsettled messages again.
    ///
    /// A chunk with a page left is forgotten, because it comes again from its beginning. A chunk whose last page has
    /// begun ends as usual, so that its ending is recorded before somebody serves it again.
    ///
    /// - Parameters:
    ///   - epoch: the first connection whose deliveries are good; without it, no delivery is.
    ///   - actions: receives the actions.
    public mutating func sourceLost(before epoch: UInt32 = .max, into actions: inout Actions) {
        firstGoodEpoch = epoch
        release(into: &actions) { $0.epoch < epoch }
        chunks = chunks.filter { $0.value.isRead || $0.key.epoch >= epoch }
    }

    /// Drops chunks that have not begun, which stay with the broker; a begun chunk is served to its end.
    public mutating func drain(into actions: inout Actions) {
        isDraining = true
        let begun = chunks
        release(into: &actions) { begun[$0] == nil }
    }

    /// Forgets deliveries that wait, or whose page is requested.
    private mutating func release(into actions: inout Actions, where isReleased: (DeliveryTag) -> Bool) {
        let abandoned = asked.map(\.tag).filter(isReleased)
        asked.removeAll { isReleased($0.tag) }
        actions.pagesAbandoned += abandoned
        actions.released += abandoned + queue.removeAll { isReleased($0.tag) }.map(\.tag)
    }

    // MARK: Flows that hang

    /// The flows with apps that have pages out, each with the start of the time in which a page was always out.
    ///
    /// Empty if no delivery waits, or if only one app is configured: then no other app needs the room.
    public var flowsOut: [(flow: FanOutFlow, since: MonotonicTime)] {
        guard hasSeveralApps, isWaiting else { return [] }
        var flows: [(flow: FanOutFlow, since: MonotonicTime)] = []
        for chunk in chunks.values.sorted(by: { $0.order < $1.order })
        where chunk.pagesOut > 0 && !chunk.flow.apps.isEmpty {
            if let index = flows.firstIndex(where: { $0.flow == chunk.flow }) {
                flows[index].since = min(flows[index].since, chunk.outSince)
            } else {
                flows.append((chunk.flow, chunk.outSince))
            }
        }
        return flows
    }

    /// Flows hang: no push of them has been answered for some time.
    ///
    /// A worker has few chunks. If all of them were of an app whose pushes hang, the fan-outs of other apps would
    /// stand behind them in the broker's queue. So the deliveries of such a flow that have not begun leave the worker.
    ///
    /// - Parameters:
    ///   - flows: the flows of `flowsOut` that hang; may be empty.
    ///   - now: the time.
    ///   - actions: receives the actions.
    /// - Returns: the deliveries that have not begun, to be put into a retry queue. A delivery that cannot be put there
    ///   arrives again (`arrived`).
    public mutating func flowsHang(
        _ flows: [FanOutFlow], at now: MonotonicTime, into actions: inout Actions
    ) -> [FanOutDelivery] {
        guard hasSeveralApps, isWaiting else {
            lookAgainAt = nil
            return []
        }
        actions.notices += flows.filter { !hanging.contains($0) }.map { .flowHangs($0) }
        hanging = flows
        let begun = chunks
        let unbegun = flows.flatMap { flow in
            queue.removeAll { $0.flow == flow && begun[$0.tag] == nil }
        }
        if !isWaiting || chunks.isEmpty {
            lookAgainAt = nil
        } else if lookAgainAt.map({ $0 <= now }) ?? true {
            lookAgainAt = now.advanced(byMilliseconds: Self.lookDelayMilliseconds)
        }
        return unbegun
    }
}

/// The chunks that have ended and whose endings the registry does not keep yet; their deliveries are not settled.
///
/// One request is under way at a time. Endings that come meanwhile go together into the next one.
struct FanOutEndings: Sendable {
    private var waiting: [(tag: DeliveryTag, ending: FanOutChunkEnding)] = []
    /// The number of endings, the first of `waiting`, that the request under way records; 0 if none is under way.
    private var askedCount = 0
    /// The time before which the registry is not asked again; nil if it answered the last request.
    private(set) var askAgainAt: MonotonicTime?

    /// Whether there is nothing to record.
    var isEmpty: Bool { waiting.isEmpty }

    /// A chunk has ended.
    mutating func append(_ tag: DeliveryTag, _ ending: FanOutChunkEnding) { waiting.append((tag, ending)) }

    /// Begins a request if one is due.
    ///
    /// - Returns: the endings to record; empty if there are none, or if this is not the time.
    mutating func begin(at now: MonotonicTime) -> [FanOutChunkEnding] {
        if let time = askAgainAt, time > now { return [] }
        guard askedCount == 0, !waiting.isEmpty else { return [] }
        askAgainAt = nil
        askedCount = waiting.count
        return waiting.map(\.ending)
    }

    /// The request has ended finally.
    ///
    /// - Returns: the chunks whose deliveries can be settled.
    mutating func finish() -> [(tag: DeliveryTag, ending: FanOutChunkEnding)] {
        assert(askedCount > 0, "an answer came to a request that was not made")
        let finished = Array(waiting.prefix(askedCount))
        waiting.removeFirst(finished.count)
        askedCount = 0
        return finished
    }

    /// The request has failed, and is made again.
    ///
    /// - Parameter time: when to make it again, together with what ends until then.
    mutating func repeatRequest(at time: MonotonicTime) {
        assert(askedCount > 0, "an answer came to a request that was not made")
        askedCount = 0
        askAgainAt = time
    }

    /// The number of endings that the request under way records.
    var countUnderWay: Int { askedCount }
}
