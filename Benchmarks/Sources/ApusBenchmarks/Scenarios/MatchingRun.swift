import Essentials
import Glibc
import PredicateIndex
import Predicates

/// One index with its workload.
struct MatchingRun {
    /// The times of many equal steps, in microseconds.
    struct Times {
        private let sorted: [Double]
        /// How many rows a change found.
        let rowsPerChange: Double

        init(_ times: [Double], changes: Int = 1, rows: Int = 0) {
            sorted = times.sorted()
            rowsPerChange = Double(rows) / Double(changes)
        }

        var median: Double { sorted[sorted.count / 2] }
        var p99: Double { sorted[sorted.count * 99 / 100] }
        var longest: Double { sorted[sorted.count - 1] }
        var mean: Double { sorted.reduce(0, +) / Double(sorted.count) }

        /// Of the parts of a measurement, the one that was disturbed least.
        static func best(_ parts: [Times]) -> Times? { parts.min { $0.median < $1.median } }
    }

    let index: SubscriptionIndex
    private var workload: MatchingWorkload
    /// Some of the predicates, for changes to satisfy.
    private var samples: [Predicate] = []
    private var random = SplitMix(seed: 99)
    private var nextRow: Int64 = 1
    private(set) var addedPerSecond = 0.0

    /// Builds an index of so many different predicates.
    init(_ spread: MatchingWorkload.Spread, _ shapeCount: Int, _ mixPercent: Int, count: Int) throws {
        index = SubscriptionIndex(hashSeed: 0x5EED)
        workload = MatchingWorkload(spread: spread, shapeCount: shapeCount, mixPercent: mixPercent, seed: 1)
        var seconds = 0.0
        while index.distinctPredicateCount < count {
            var batch: [Predicate] = []
            for _ in 0..<min(1_000, count - index.distinctPredicateCount) { batch.append(try workload.predicate()) }
            let start = Self.now()
            for predicate in batch { insert(predicate) }
            seconds += (Self.now() - start) / 1_000_000
            if samples.count < 50_000 || Int.random(in: 0..<20, using: &random) == 0, let first = batch.first {
                samples.append(first)
            }
        }
        addedPerSecond = Double(nextRow - 1) / seconds
    }

    /// Memory without that of further subscribers, which are there because the same predicate was drawn again.
    var bytesPerPredicate: Double {
        Double(index.memoryBytes) / Double(index.count)
    }

    static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) * 1_000_000 + Double(time.tv_nsec) / 1_000
    }

    private mutating func insert(_ predicate: Predicate) {
        // A predicate that is there already gains no second subscriber: only different ones are counted.
        let before = index.distinctPredicateCount
        index.insert(nextRow, scope: MatchingWorkload.scope, operations: .all, predicate: predicate)
        if index.distinctPredicateCount == before { index.remove(nextRow) } else { nextRow += 1 }
    }

    mutating func change() -> MatchInput {
        let satisfied = Bool.random(using: &random) ? samples.randomElement(using: &random) : nil
        return workload.change(satisfying: satisfied)
    }

    /// Matches changes some at a time, as a worker does, and tells how long a change took in each lot.
    mutating func matchTogether(_ count: Int, lot: Int) -> Times {
        var times: [Double] = []
        var rowCount = 0
        for _ in 0..<count / lot {
            var changes: [MatchInput] = []
            for _ in 0..<lot { changes.append(change()) }
            let start = Self.now()
            index.match(changes) { _, rows, _ in rowCount += rows.count }
            times.append((Self.now() - start) / Double(lot))
        }
        return Times(times, changes: count, rows: rowCount)
    }

    /// Matches changes one by one, and tells how long each took.
    mutating func match(_ count: Int) -> Times {
        var times: [Double] = []
        var rows: [Int64] = []
        var rowCount = 0
        for _ in 0..<count {
            let change = change()
            rows.removeAll(keepingCapacity: true)
            let start = Self.now()
            _ = index.match(change, into: &rows)
            times.append(Self.now() - start)
            rowCount += rows.count
        }
        return Times(times, changes: count, rows: rowCount)
    }

    /// Replaces a subscription before each change, and tells how long either took.
    mutating func churn(_ count: Int) throws -> (matching: Times, replacing: Times) {
        var matching: [Double] = []
        var replacing: [Double] = []
        var rows: [Int64] = []
        for _ in 0..<count {
            let change = change()
            let predicate = try workload.predicate()
            let row = Int64.random(in: 1..<nextRow, using: &random)
            var start = Self.now()
            index.insert(row, scope: MatchingWorkload.scope, operations: .all, predicate: predicate)
            replacing.append(Self.now() - start)
            rows.removeAll(keepingCapacity: true)
            start = Self.now()
            _ = index.match(change, into: &rows)
            matching.append(Self.now() - start)
        }
        return (Times(matching), Times(replacing))
    }
}
