public import DispatchCore
import Essentials
public import RegistryCore

/// How all processes together are doing: the sum of their reports, with the age of each.
///
/// Any process can make it, because it is made of what the registry holds.
public struct DeploymentStatus: Sendable {
    /// A process with its last report.
    public struct Worker: Sendable {
        /// Its identifier.
        public var identifier: String
        /// Its last report.
        public var status: WorkerStatus
        /// When it reported, in milliseconds since 1970.
        public var reportedAtMilliseconds: Int64
        /// How long ago that was; 0 if the clock of its machine is ahead.
        public var ageMilliseconds: Int64

        /// Whether the report is too old to say how the process is doing.
        public var isStale: Bool { ageMilliseconds >= WorkerReportRules.staleMilliseconds }
    }

    /// One interval of all processes.
    public struct Interval: Sendable {
        /// When it ended, in milliseconds since 1970.
        public var endMilliseconds: Int64
        /// The pushes.
        public var counts = PushCounts()
        /// The pushes by lag.
        public var lag = LagHistogram()
    }

    /// How many intervals of the lag count as now.
    public static let lagIntervalsCount = 12

    /// The processes by their identifiers.
    public var workers: [Worker]
    /// The last intervals, the oldest first, without a gap; the last one is of all fresh processes.
    public var intervals: [Interval]

    /// Reads reports.
    ///
    /// - Parameters:
    ///   - reports: all reports; one that cannot be read is left out.
    ///   - nowMilliseconds: when it is.
    public init(_ reports: [WorkerReport], nowMilliseconds: Int64) {
        workers = reports.compactMap { report in
            WorkerStatus(json: report.content).map { status in
                Worker(
                    identifier: report.identifier, status: status,
                    reportedAtMilliseconds: report.reportedAtMilliseconds,
                    ageMilliseconds: max(0, nowMilliseconds - report.reportedAtMilliseconds))
            }
        }
        intervals = Self.intervals(of: workers, nowMilliseconds: nowMilliseconds)
    }

    /// The processes that say how they are doing.
    public var freshWorkers: [Worker] { workers.filter { !$0.isStale } }

    /// The pushes of the last intervals, and how many seconds these are.
    public var recent: (counts: PushCounts, seconds: Double) {
        let last = intervals.suffix(WorkerStatus.recentSamplesCount)
        return (
            last.reduce(into: PushCounts()) { $0.add($1.counts) },
            Double(last.count) * Double(WorkerReportRules.intervalMilliseconds) / 1_000
        )
    }

    /// The lag of the last minute, and how many seconds these are.
    public var lag: (histogram: LagHistogram, seconds: Double) {
        let last = intervals.suffix(Self.lagIntervalsCount)
        return (
            last.reduce(into: LagHistogram()) { $0.add($1.lag) },
            Double(last.count) * Double(WorkerReportRules.intervalMilliseconds) / 1_000
        )
    }

    private static func intervals(of workers: [Worker], nowMilliseconds: Int64) -> [Interval] {
        let length = WorkerReportRules.intervalMilliseconds
        let now = WallTime(milliseconds: nowMilliseconds).milliseconds / length * length
        // Workers that report a moment later would make the last interval look poor.
        let ends = workers.filter { !$0.isStale }.compactMap(\.status.samples.last?.endMilliseconds)
        let end = min(now, max(ends.min() ?? now, now - 2 * length))
        let count = Int64(WorkerReportRules.samplesMaximum)
        var intervals = (0..<count).map { Interval(endMilliseconds: end - (count - 1 - $0) * length) }
        var earliest = count
        for worker in workers {
            for sample in worker.status.samples {
                let index = count - 1 - (end - sample.endMilliseconds) / length
                guard (0..<count).contains(index), sample.endMilliseconds <= end else { continue }
                earliest = min(earliest, index)
                intervals[Int(index)].counts.add(sample.counts)
                intervals[Int(index)].lag.add(sample.lagCounts, boundsSeconds: worker.status.lagBoundsSeconds)
            }
        }
        // Before the first sample nothing is known, which is not the same as nothing.
        return Array(intervals.dropFirst(Int(earliest)))
    }
}

/// Durations by size, from processes whose buckets need not be the same.
public struct LagHistogram: Hashable, Sendable {
    private var counts: [Double: Int] = [:]

    /// Creates an empty histogram.
    public init() {}

    /// How many durations it holds.
    public var count: Int { counts.values.reduce(0) { $0.addingBounded($1) } }

    /// Adds durations by bucket; the last count is of those above the last bound.
    public mutating func add(_ bucketCounts: [Int], boundsSeconds: [Double]) {
        // Empty buckets count as well: they bound those above them.
        for (index, count) in bucketCounts.prefix(boundsSeconds.count + 1).enumerated() {
            let bound = index < boundsSeconds.count ? boundsSeconds[index] : .infinity
            counts[bound] = (counts[bound] ?? 0).addingBounded(count)
        }
    }

    /// Adds another histogram.
    mutating func add(_ other: LagHistogram) {
        counts.merge(other.counts) { $0.addingBounded($1) }
    }

    /// The duration that this part of all is not above, interpolated within its bucket; nil if there is none.
    ///
    /// Above the last bound it is that bound.
    ///
    /// - Parameter part: 0 to 1, for example 0.99.
    /// - Returns: seconds.
    public func quantile(_ part: Double) -> Double? {
        let total = count
        guard total > 0 else { return nil }
        let rank = Double(total) * min(max(part, 0), 1)
        var below = 0
        var lower = 0.0
        for (bound, count) in counts.sorted(by: { $0.key < $1.key }) {
            if count > 0, Double(below.addingBounded(count)) >= rank {
                guard bound.isFinite else { return lower }
                return lower + (bound - lower) * max(0, rank - Double(below)) / Double(count)
            }
            below = below.addingBounded(count)
            lower = bound
        }
        return lower
    }
}
