import Synchronization

/// Counts durations by size; any thread may observe, without a lock.
public final class Histogram: Sendable {
    /// The upper bounds that suit a network request, in seconds.
    public static let requestBoundsSeconds = [
        0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]
    /// The upper bounds that suit the age of an event, in seconds.
    public static let ageBoundsSeconds = requestBoundsSeconds + [30, 60, 300, 1_800, 3_600, 21_600, 86_400]

    /// The upper bounds of the buckets, in seconds.
    public let boundsSeconds: [Double]
    /// The label of the exemplars; nil if none are kept.
    let exemplarLabel: Exemplar.Label?
    private let boundsNanoseconds: [UInt64]
    private let buckets: [HistogramBucket]
    private let sumNanoseconds = Atomic<UInt64>(0)

    init(boundsSeconds: [Double], exemplars: Exemplar.Label? = nil) {
        self.boundsSeconds = boundsSeconds
        exemplarLabel = exemplars
        boundsNanoseconds = boundsSeconds.map { UInt64($0 * 1_000_000_000) }
        buckets = (0...boundsSeconds.count).map { _ in HistogramBucket() }
    }

    /// Counts a duration in nanoseconds, once or as often as it was observed.
    public func observe(nanoseconds: UInt64, count times: Int = 1) { _ = count(nanoseconds, times: times) }

    /// Counts one duration, and keeps it as the exemplar of its bucket if the last one is older than a second.
    ///
    /// - Parameters:
    ///   - nanoseconds: the duration.
    ///   - identifier: the identifier of the observed thing.
    ///   - trace: the span that it was observed in; such an exemplar also replaces a younger one without.
    ///   - milliseconds: the wall clock, in milliseconds since 1970.
    public func observe(
        nanoseconds: UInt64, of identifier: Exemplar.Identifier, in trace: Exemplar.Trace? = nil,
        atMilliseconds milliseconds: Int64
    ) {
        let index = count(nanoseconds)
        guard buckets[index].isDue(at: milliseconds, hasTrace: trace != nil), exemplarLabel != nil else { return }
        buckets[index].replace(
            with: Exemplar(
                identifier: identifier, trace: trace, nanoseconds: nanoseconds, milliseconds: milliseconds))
    }

    /// Counts a duration so many times.
    ///
    /// - Returns: the index of its bucket; a bucket that is returned itself is retained, which costs as much as
    ///   counting.
    private func count(_ nanoseconds: UInt64, times: Int = 1) -> Int {
        var index = 0
        while index < boundsNanoseconds.count, nanoseconds > boundsNanoseconds[index] { index += 1 }
        buckets[index].count.wrappingAdd(times, ordering: .relaxed)
        sumNanoseconds.wrappingAdd(nanoseconds &* UInt64(times), ordering: .relaxed)
        return index
    }

    /// How many durations fell into each bucket, not cumulated; the last is everything above the last bound.
    public var bucketCounts: [Int] { buckets.map { $0.count.load(ordering: .relaxed) } }

    /// The exemplar of each bucket, nil where there is none.
    public var exemplars: [Exemplar?] { buckets.map(\.exemplar) }

    /// The sum of all durations, in seconds.
    public var sumSeconds: Double { Double(sumNanoseconds.load(ordering: .relaxed)) / 1_000_000_000 }
}
