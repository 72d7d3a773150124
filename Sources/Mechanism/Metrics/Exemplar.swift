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

    /// The label of a histogram's exemplars.
    public struct Label: Sendable {
        /// The name, for example `apns_id`.
        let name: String
        /// Writes an identifier; name and text must have at most 128 characters together (OpenMetrics).
        let text: @Sendable (Identifier) -> String

        /// Creates a label.
        public init(_ name: String, text: @escaping @Sendable (Identifier) -> String) {
            self.name = name
            self.text = text
        }
    }

    /// What was observed.
    public let identifier: Identifier
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
    private static let readsMaximum = 8

    let count = Atomic<Int>(0)
    private let sequence = Atomic<UInt64>(0)
    private let high = Atomic<UInt64>(0)
    private let low = Atomic<UInt64>(0)
    private let nanoseconds = Atomic<UInt64>(0)
    private let milliseconds = Atomic<Int64>(0)

    /// Whether the exemplar is missing or old, or the clock was set back.
    func isDue(at now: Int64) -> Bool {
        let last = milliseconds.load(ordering: .relaxed)
        return now < last || now &- last >= Self.lifetimeMilliseconds
    }

    func replace(with exemplar: Exemplar) {
        let number = sequence.load(ordering: .relaxed)
        guard number.isMultiple(of: 2),
            sequence.compareExchange(expected: number, desired: number &+ 1, ordering: .acquiring).exchanged
        else { return }
        atomicMemoryFence(ordering: .releasing)
        high.store(exemplar.identifier.high, ordering: .relaxed)
        low.store(exemplar.identifier.low, ordering: .relaxed)
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
                nanoseconds: nanoseconds.load(ordering: .relaxed), milliseconds: milliseconds.load(ordering: .relaxed))
            atomicMemoryFence(ordering: .acquiring)
            if number.isMultiple(of: 2), sequence.load(ordering: .relaxed) == number { return exemplar }
        }
        return nil
    }
}
