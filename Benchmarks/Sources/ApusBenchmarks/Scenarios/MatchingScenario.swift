import Glibc
import PredicateIndex
import Predicates

/// The matching index: time for each change, memory, building, and adding and removing while changes are matched.
///
/// The predicates are all different. Half of the changes satisfy one of them on purpose; none is matched twice, and a
/// record was just made when it is matched, as in the worker.
///
/// Processor and memory are up to twice as slow while the host's other guests are busy. So all indexes are made first,
/// and asked in turn, the small one of a row and its large one right after each other, in many parts over the whole
/// run. Of each the part with the lowest median is reported, which is of the best weather that there was. How much
/// longer the large one takes is told by the part whose ratio is in the middle of all: its two numbers are of the same
/// weather. A chain of reads from all over as much memory as a large index has, timed in the same turns, tells what
/// weather it was.
struct MatchingScenario {
    private static let few = Scale.of(10_000, small: 100)
    private static let many = Scale.of(1_000_000, small: 5_000)
    private static let changesPerPart = Scale.of(5_000, small: 500)
    /// How many changes are matched together: a worker gets up to 500 from the broker at once.
    private static let lot = 50
    private static let parts = Scale.of(60, small: 2)
    private static let changesWhileReplacing = Scale.of(100_000, small: 1_000)
    private static let growthMaximum = 1.5

    /// A small and a large index of one workload, and what they took.
    private struct Row {
        let name: String
        let isMixed: Bool
        let p99Maximum: Double
        let isChurned: Bool
        var small: MatchingRun
        var large: MatchingRun
        var together = Parts()
        var alone = Parts()
        var readNanoseconds = Double.infinity
    }

    /// The measurements of a row, in turn.
    private struct Parts {
        var small: [MatchingRun.Times] = []
        var large: [MatchingRun.Times] = []

        /// The medians of the part whose ratio is in the middle of all.
        var middle: (small: Double, large: Double)? {
            let pairs = zip(small, large).map { (small: $0.median, large: $1.median) }
            let sorted = pairs.sorted { $0.large / $0.small < $1.large / $1.small }
            return sorted.isEmpty ? nil : sorted[sorted.count / 2]
        }
    }

    let report: Report
    /// As much memory as the large index takes.
    private let memory = RandomReads(byteCount: 75_000_000)

    func run() throws {
        Report.show("making ten indexes of a million predicates, which are then asked in \(Self.parts) turns: minutes")
        var rows: [Row] = []
        for spread in MatchingWorkload.Spread.allCases {
            for shapeCount in [1, 8, 64, 500] { rows.append(try row(spread, shapeCount, mixPercent: 0)) }
            rows.append(try row(spread, 8, mixPercent: 10))
        }
        for _ in 0..<Self.parts {
            for index in rows.indices { measure(&rows[index]) }
        }
        for index in rows.indices { try tell(&rows[index]) }
        subscribeManyToOne()
    }

    private func row(_ spread: MatchingWorkload.Spread, _ shapeCount: Int, mixPercent: Int) throws -> Row {
        Row(
            name: "\(spread.rawValue)_\(shapeCount)_shapes" + (mixPercent > 0 ? "_\(mixPercent)_percent_mixed" : ""),
            isMixed: mixPercent > 0, p99Maximum: mixPercent > 0 ? 60 : 15, isChurned: shapeCount == 8,
            small: try MatchingRun(spread, shapeCount, mixPercent, count: Self.few),
            large: try MatchingRun(spread, shapeCount, mixPercent, count: Self.many))
    }

    private func measure(_ row: inout Row) {
        row.together.small.append(row.small.matchTogether(Self.changesPerPart, lot: Self.lot))
        row.together.large.append(row.large.matchTogether(Self.changesPerPart, lot: Self.lot))
        row.alone.small.append(row.small.match(Self.changesPerPart))
        row.alone.large.append(row.large.match(Self.changesPerPart))
        row.readNanoseconds = min(row.readNanoseconds, memory.nanosecondsPerRead())
    }

    private func tell(_ row: inout Row) throws {
        let name = row.name
        guard let together = MatchingRun.Times.best(row.together.large), let growth = row.together.middle,
            let alone = MatchingRun.Times.best(row.alone.large), let growthAlone = row.alone.middle
        else { return }
        report.add("match_p50_\(name)", together.median, "µs", budget: row.isMixed ? nil : .valueAtMost(2))
        report.add(
            "match_growth_\(name)", growth.large, "µs", reference: growth.small,
            budget: row.isMixed ? nil : .ratioAtMost(Self.growthMaximum))
        report.add("match_alone_p50_\(name)", alone.median, "µs")
        report.add("match_alone_growth_\(name)", growthAlone.large, "µs", reference: growthAlone.small)
        report.add("match_p99_\(name)", alone.p99, "µs", budget: .valueAtMost(row.p99Maximum))
        report.add("match_rows_\(name)", alone.rowsPerChange, "")
        report.add("match_memory_read_\(name)", row.readNanoseconds, "ns")
        report.add(
            "bytes_per_predicate_\(name)", row.large.bytesPerPredicate, "B",
            budget: row.isMixed ? nil : .valueAtMost(100))
        report.add("predicates_added_per_second_\(name)", row.large.addedPerSecond, "1/s")
        guard row.isChurned else { return }
        let churn = try row.large.churn(Self.changesWhileReplacing)
        report.add("match_p99_while_changing_\(name)", churn.matching.p99, "µs", budget: .valueAtMost(row.p99Maximum))
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
