import Synchronization

/// One observation of a histogram, by which a person finds what the bucket counted.
public struct Exemplar: Hashable, Sendable {
    /// A 128-bit identifier, for example of a push.
    public struct Identifier: Hashable, Sendable {
        /// The first 64 bits.
        public let high: UInt64
        /// The last 64 bits.
        public let low: UInt64

        /// Creates an identifier.
        public init(high: UInt64, low: UInt64) {
            self.high = high
            self.low = low
        }
    }

    /// A span that an observation was made in.
    public struct Trace: Hashable, Sendable {
        /// The number of the trace.
        public let traceID: Identifier
        /// The number of the span, not 0.
        public let spanID: UInt64

        /// Names a span.
        public init(traceID: Identifier, spanID: UInt64) {
            self.traceID = traceID
            self.spanID = spanID
        }
    }

    /// The label of a histogram's exemplars.
    public struct Label: Sendable {
        /// The name, for example `apns_id`.
        let name: String
        /// Writes an identifier.
        ///
        /// Name and text must have at most 64 characters together: OpenMetrics allows 128 for all labels, and those of
        /// a trace take the rest.
        let text: @Sendable (Identifier) -> String

        /// Creates a label.
        public init(_ name: String, text: @escaping @Sendable (Identifier) -> String) {
            self.name = name
            self.text = text
        }
    }

    /// The identifier of the observed thing.
    public let identifier: Identifier
    /// The span that it was observed in; nil if none is recorded.
    public let trace: Trace?
    /// The observed duration, in nanoseconds.
    public let nanoseconds: UInt64
    /// When it was observed, in milliseconds since 1970.
    public let milliseconds: Int64
}

/// One bucket of a histogram: a count and the last exemplar, which any thread may read and change without a lock.
///
/// The exemplar has a sequence lock: the number is odd while a writer is at work. A second writer gives up, and a
/// reader tries again.
final class HistogramBucket: Sendable {
    /// How long an exemplar stays, in milliseconds.
    ///
    /// Scrapes are further apart, so more exemplars would cost the observers time and show nothing.
    private static let lifetimeMilliseconds: Int64 = 1_000
    /// How long one with a trace stays in spite of those without, in milliseconds.
    private static let tracedLifetimeMilliseconds: Int64 = 60_000
    private static let readsMaximum = 8

    let count = Atomic<Int>(0)
    private let sequence = Atomic<UInt64>(0)
    private let high = Atomic<UInt64>(0)
    private let low = Atomic<UInt64>(0)
    private let traceHigh = Atomic<UInt64>(0)
    private let traceLow = Atomic<UInt64>(0)
    /// 0 if there is no trace.
    private let span = Atomic<UInt64>(0)
    private let nanoseconds = Atomic<UInt64>(0)
    private let milliseconds = Atomic<Int64>(0)

    /// Whether the exemplar is missing or old, or the clock was set back.
    ///
    /// One with a trace replaces one without at once, and is replaced by one without much later: few events are
    /// recorded, and a scrape should find one of them.
    func isDue(at now: Int64, hasTrace: Bool) -> Bool {
        let isTraced = span.load(ordering: .relaxed) != 0
        if hasTrace, !isTraced { return true }
        let last = milliseconds.load(ordering: .relaxed)
        let lifetime = isTraced && !hasTrace ? Self.tracedLifetimeMilliseconds : Self.lifetimeMilliseconds
        return now < last || now &- last >= lifetime
    }

    func replace(with exemplar: Exemplar) {
        let number = sequence.load(ordering: .relaxed)
        guard number.isMultiple(of: 2),
            sequence.compareExchange(expected: number, desired: number &+ 1, ordering: .acquiring).exchanged
        else { return }
        atomicMemoryFence(ordering: .releasing)
        high.store(exemplar.identifier.high, ordering: .relaxed)
        low.store(exemplar.identifier.low, ordering: .relaxed)
        traceHigh.store(exemplar.trace?.traceID.high ?? 0, ordering: .relaxed)
        traceLow.store(exemplar.trace?.traceID.low ?? 0, ordering: .relaxed)
        span.store(exemplar.trace?.spanID ?? 0, ordering: .relaxed)
        nanoseconds.store(exemplar.nanoseconds, ordering: .relaxed)
        milliseconds.store(exemplar.milliseconds, ordering: .relaxed)
        sequence.store(number &+ 2, ordering: .releasing)
    }

    /// The exemplar; nil if there is none, or if a writer is always at work.
    var exemplar: Exemplar? {
        for _ in 0..<Self.readsMaximum {
            let number = sequence.load(ordering: .acquiring)
            guard number > 0 else { return nil }
            let exemplar = Exemplar(
                identifier: .init(high: high.load(ordering: .relaxed), low: low.load(ordering: .relaxed)),
                trace: trace, nanoseconds: nanoseconds.load(ordering: .relaxed),
                milliseconds: milliseconds.load(ordering: .relaxed))
            atomicMemoryFence(ordering: .acquiring)
            if number.isMultiple(of: 2), sequence.load(ordering: .relaxed) == number { return exemplar }
        }
        return nil
    }

    private var trace: Exemplar.Trace? {
        let spanID = span.load(ordering: .relaxed)
        guard spanID != 0 else { return nil }
        let traceID = Exemplar.Identifier(
            high: traceHigh.load(ordering: .relaxed), low: traceLow.load(ordering: .relaxed))
        return Exemplar.Trace(traceID: traceID, spanID: spanID)
    }
}
