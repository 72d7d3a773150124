public import ChangeEvents
public import Essentials
public import Tracing

/// Makes the spans of deliveries, by OpenTelemetry's conventions for messaging: a pure value, told of what happened.
///
/// - Each delivery of an event has a span of the kind *consumer*, from its arrival to its end. Its parent is the
///   sender's context, if the event has one. Each attempt to push, and each copy that is published, is a part of it.
/// - An event without a context has a trace whose number follows from its source and identifier, so that retries,
///   chunks and redeliveries of it, by any worker, join the same trace and are sampled alike. Its first delivery is the
///   root, and later ones are parts of it.
/// - Events that are told by another's pushes (coalesced) are links of its span.
///
/// Only events that are recorded cost anything after `deliveryReceived`: a caller keeps the `EventTrace`, and asks
/// `isRecorded` before it calls any other method.
public struct DeliverySpans: Sendable {
    /// The most deliveries with an open span; further ones are not recorded.
    public static let openMaximum = 4_096
    /// The most spans of accepted pushes of one delivery; further ones are counted on its own span.
    public static let acceptedPushSpansMaximum = 64
    /// The most spans of pushes of one delivery.
    public static let pushSpansMaximum = 128

    private let sampler: Sampler
    private var random: SplitMix
    private var open: [DeliveryTag: OpenDelivery] = [:]
    private var finished: [Span] = []

    /// Creates the value.
    ///
    /// - Parameters:
    ///   - sampler: decides which events are recorded.
    ///   - seed: a random number, from which the numbers of spans follow.
    public init(sampler: Sampler, seed: UInt64) {
        self.sampler = sampler
        random = SplitMix(seed: seed)
    }

    /// How many recorded deliveries have not ended.
    public var openCount: Int { open.count }

    /// Takes the spans that have ended since the last call.
    public mutating func takeFinished() -> [Span] {
        guard !finished.isEmpty else { return [] }
        defer { finished = [] }
        return finished
    }

    /// A delivery was decoded.
    ///
    /// - Parameters:
    ///   - delivery: the delivery.
    ///   - event: its event.
    ///   - retryState: its history.
    ///   - now: the time.
    /// - Returns: the context to hand on, and whether the event is recorded; nil if it has no trace.
    public mutating func deliveryReceived(
        _ delivery: Delivery, _ event: ChangeEvent, _ retryState: RetryState, at now: Moment
    ) -> EventTrace? {
        // An event that has to wait for another of its dataset is decoded once more.
        if let known = open[delivery.tag] { return EventTrace(context: known.context, isRecorded: true) }
        let parent = event.trace
        let derived =
            parent == nil ? DerivedTrace(EventDigest(source: event.source, identifier: event.identifier)) : nil
        guard let traceID = parent?.traceID ?? derived?.traceID else { return nil }
        guard open.count < Self.openMaximum, sampler.isSampled(traceID, parent: parent) else {
            return parent.map { EventTrace(passedOn: $0) }
        }
        // Copies and replays come by the default exchange.
        let isFirst = !delivery.exchange.isEmpty && !delivery.isRedelivered
        // The root, if there is no sender whose span could be it.
        let root = isFirst ? derived?.spanID : nil
        let context = TraceContext(
            traceID: traceID, spanID: root ?? makeSpanID(), flags: (parent?.flags ?? []).union(.sampled),
            state: parent?.state)
        open[delivery.tag] = OpenDelivery(
            delivery, event, retryState, context: context,
            parent: root == nil ? parent?.spanID ?? derived?.spanID : nil, begun: now)
        return EventTrace(context: context, isRecorded: true)
    }

    /// A delivery was no event that can be acted on.
    ///
    /// - Parameters:
    ///   - delivery: the delivery.
    ///   - trace: the trace that its outline names.
    ///   - reason: the reason for machines.
    ///   - now: the time.
    public mutating func deliveryRejected(
        _ delivery: Delivery, trace: TraceContext?, reason: String, at now: Moment
    ) {
        // Without a trace and an identifier there is nothing that a span could be joined to.
        guard let trace, sampler.isSampled(trace.traceID, parent: trace) else { return }
        let context = TraceContext(
            traceID: trace.traceID, spanID: makeSpanID(), flags: trace.flags.union(.sampled), state: trace.state)
        let rejected = OpenDelivery(delivery, context: context, parent: trace.spanID, begun: now)
        finished.append(rejected.span(endedBy: .rejected(reason: reason), at: now))
    }

    /// The devices of a delivery were found: those of one page, if it has several.
    public mutating func devicesFound(_ tag: DeliveryTag, count: Int) { open[tag]?.deviceCount += count }

    /// An event is told by the pushes of another one, and ends.
    ///
    /// - Parameters:
    ///   - tag: its delivery.
    ///   - trace: its trace; nil if it has none.
    ///   - other: the delivery whose pushes tell it.
    ///   - now: the time.
    public mutating func eventCoalesced(
        _ tag: DeliveryTag, trace: EventTrace?, into other: DeliveryTag, at now: Moment
    ) {
        let ended = open.removeValue(forKey: tag)
        if let ended { finished.append(ended.span(endedBy: .coalesced, at: now)) }
        open[other]?.add(link: ended?.creationContext ?? trace?.context)
    }

    /// An attempt to push ended.
    public mutating func pushEnded(_ tag: DeliveryTag, _ attempt: PushAttempt, at now: Moment) {
        guard let index = open.index(forKey: tag) else { return }
        guard open.values[index].mayHaveSpan(attempt) else { return }
        finished.append(open.values[index].span(of: attempt, spanID: makeSpanID(), at: now))
    }

    /// A copy of the event was published, or was not.
    ///
    /// - Parameters:
    ///   - tag: the delivery.
    ///   - queue: the queue: a retry queue, the fan-out queue, the dead letters.
    ///   - reason: the reason of the copy, for machines.
    ///   - outcome: how the publish ended.
    ///   - begun: when it was handed to the broker.
    ///   - now: the time.
    public mutating func copyPublished(
        _ tag: DeliveryTag, to queue: String, reason: String, outcome: PublishOutcome, begun: MonotonicTime,
        at now: Moment
    ) {
        guard let delivery = open[tag] else { return }
        finished.append(
            delivery.span(
                ofCopyTo: queue, reason: reason, outcome: outcome, spanID: makeSpanID(), begun: begun, at: now))
    }

    /// A delivery ended.
    ///
    /// - Parameters:
    ///   - tag: the delivery.
    ///   - ending: how.
    ///   - now: the time.
    public mutating func deliveryEnded(_ tag: DeliveryTag, _ ending: DeliveryEnding, at now: Moment) {
        guard let delivery = open.removeValue(forKey: tag) else { return }
        finished.append(delivery.span(endedBy: ending, at: now))
    }

    /// The connection to the broker was lost: it delivers again what had not ended.
    ///
    /// - Parameters:
    ///   - epoch: the first connection whose deliveries are good.
    ///   - now: the time.
    public mutating func sourceLost(before epoch: UInt32, at now: Moment) {
        for (tag, delivery) in open where tag.epoch < epoch {
            finished.append(delivery.span(endedBy: .connectionLost, at: now))
            open[tag] = nil
        }
    }

    private mutating func makeSpanID() -> SpanID {
        while true {
            // One in 2^64 numbers is none.
            if let spanID = SpanID(random.next()) { return spanID }
        }
    }
}

/// The trace of an event whose publisher named none: every worker derives the same from the event.
private struct DerivedTrace {
    let traceID: TraceID
    let spanID: SpanID

    init?(_ digest: EventDigest) {
        func word(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        let (high, low) = (word(digest.bytes.prefix(8)), word(digest.bytes.dropFirst(8).prefix(8)))
        var random = SplitMix(seed: high ^ low)
        guard let traceID = TraceID(high: high, low: low), let spanID = SpanID(random.next()) else { return nil }
        self.traceID = traceID
        self.spanID = spanID
    }
}
