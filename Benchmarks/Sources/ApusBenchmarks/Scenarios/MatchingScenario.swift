import Glibc
import PushCore

/// The matching index: time for each change, memory, building, and adding and removing while changes are matched.
///
/// The predicates are all different. Half of the changes satisfy one of them on purpose; none is matched twice, and a
/// record was just made when it is matched, as in the worker.
///
/// Nearly all of the time goes by waiting for memory, which takes twice as long while the host's other guests are busy.
/// So the small and the large index are asked in turn, in many parts, and of each the part with the lowest median is
/// reported: both numbers of a ratio are of the best weather that there was. A chain of reads from all over as much
/// memory as the large index has, timed in the same turns, tells what weather that was.
struct MatchingScenario {
    private static let few = 10_000
    private static let many = 1_000_000
    private static let changes = 100_000
    private static let parts = 20
    private static let growthMaximum = 1.5

    let report: Report
    /// As much memory as the large index takes.
    private let memory = RandomReads(byteCount: 75_000_000)

    func run() throws {
        for spread in MatchingWorkload.Spread.allCases {
            for shapeCount in [1, 8, 64, 500] {
                try measure(spread, shapeCount, mixPercent: 0, p99Maximum: 15, isChurned: shapeCount == 8)
            }
            try measure(spread, 8, mixPercent: 10, p99Maximum: 60, isChurned: true)
        }
        subscribeManyToOne()
    }

    private func measure(
        _ spread: MatchingWorkload.Spread, _ shapeCount: Int, mixPercent: Int, p99Maximum: Double, isChurned: Bool
    ) throws {
        let name = "\(spread.rawValue)_\(shapeCount)_shapes" + (mixPercent > 0 ? "_\(mixPercent)_percent_mixed" : "")
        var small = try MatchingRun(spread, shapeCount, mixPercent, count: Self.few)
        var run = try MatchingRun(spread, shapeCount, mixPercent, count: Self.many)
        var references: [MatchingRun.Times] = []
        var parts: [MatchingRun.Times] = []
        var readNanoseconds = Double.infinity
        for _ in 0..<Self.parts {
            references.append(small.match(Self.changes / Self.parts))
            parts.append(run.match(Self.changes / Self.parts))
            readNanoseconds = min(readNanoseconds, memory.nanosecondsPerRead())
        }
        guard let reference = MatchingRun.Times.best(references), let times = MatchingRun.Times.best(parts) else {
            return
        }
        report.add("match_p50_\(name)", times.median, "µs", budget: mixPercent == 0 ? .valueAtMost(2) : nil)
        report.add(
            "match_growth_\(name)", times.median, "µs", reference: reference.median,
            budget: mixPercent == 0 ? .ratioAtMost(Self.growthMaximum) : nil)
        report.add("match_p99_\(name)", times.p99, "µs", budget: .valueAtMost(p99Maximum))
        report.add("match_rows_\(name)", times.rowsPerChange, "")
        report.add("match_memory_read_\(name)", readNanoseconds, "ns")
        report.add(
            "bytes_per_predicate_\(name)", run.bytesPerPredicate, "B", budget: mixPercent == 0 ? .valueAtMost(100) : nil
        )
        report.add("predicates_added_per_second_\(name)", run.addedPerSecond, "1/s")
        guard isChurned else { return }
        let churn = try run.churn(Self.changes)
        report.add("match_p99_while_changing_\(name)", churn.matching.p99, "µs", budget: .valueAtMost(p99Maximum))
        report.add("replacement_mean_\(name)", churn.replacing.mean, "µs")
        report.add("replacement_p99_\(name)", churn.replacing.p99, "µs", budget: .valueAtMost(50))
        report.add("replacement_longest_\(name)", churn.replacing.longest, "µs")
    }

    /// A hundred thousand subscribers of one predicate.
    private func subscribeManyToOne() {
        let count = 100_000
        let index = SubscriptionIndex(hashSeed: 1)
        for row in 1...Int64(count) {
            index.insert(row, scope: MatchingWorkload.scope, operations: .all, predicate: .always)
        }
        report.add("bytes_per_subscriber_of_one_predicate", Double(index.memoryBytes) / Double(count), "B")
        let input = MatchInput(
            application: MatchingWorkload.scope.application, recordType: MatchingWorkload.scope.recordType,
            operations: .created, fields: RecordFields())
        var rows: [Int64] = []
        _ = index.match(input, into: &rows)
        let start = MatchingRun.now()
        for _ in 0..<100 {
            rows.removeAll(keepingCapacity: true)
            _ = index.match(input, into: &rows)
        }
        report.add("match_\(count)_subscribers_of_one_predicate", (MatchingRun.now() - start) / 100, "µs")
    }
}
