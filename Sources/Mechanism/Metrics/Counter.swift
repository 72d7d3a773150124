import Synchronization

/// A number that only grows; any thread may add to it, without a lock.
public final class Counter: Sendable {
    private let storage = Atomic<Int>(0)

    init() {}

    /// Adds to the counter.
    public func add(_ count: Int = 1) { storage.wrappingAdd(count, ordering: .relaxed) }

    /// The sum of everything added.
    public var value: Int { storage.load(ordering: .relaxed) }
}

/// A number that goes up and down; any thread may change it, without a lock.
public final class Gauge: Sendable {
    private let storage = Atomic<Int>(0)

    init() {}

    /// Replaces the value.
    public func set(_ value: Int) { storage.store(value, ordering: .relaxed) }

    /// Changes the value by a difference, which may be negative.
    public func add(_ difference: Int) { storage.wrappingAdd(difference, ordering: .relaxed) }

    /// The value.
    public var value: Int { storage.load(ordering: .relaxed) }
}

/// Counts durations by size; any thread may observe, without a lock.
public final class Histogram: Sendable {
    /// The upper bounds that suit a network request, in seconds.
    public static let requestBoundsSeconds = [
        0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]
    /// The upper bounds that suit the age of an event, in seconds.
    public static let ageBoundsSeconds = requestBoundsSeconds + [30, 60, 300, 1_800, 3_600, 21_600, 86_400]

    private final class Cell: Sendable {
        let storage = Atomic<Int>(0)
    }

    let boundsSeconds: [Double]
    private let boundsNanoseconds: [UInt64]
    private let cells: [Cell]
    private let sumNanoseconds = Atomic<UInt64>(0)

    init(boundsSeconds: [Double]) {
        self.boundsSeconds = boundsSeconds
        boundsNanoseconds = boundsSeconds.map { UInt64($0 * 1_000_000_000) }
        cells = (0...boundsSeconds.count).map { _ in Cell() }
    }

    /// Counts one duration, in nanoseconds.
    public func observe(nanoseconds: UInt64) {
        var index = 0
        while index < boundsNanoseconds.count, nanoseconds > boundsNanoseconds[index] { index += 1 }
        cells[index].storage.wrappingAdd(1, ordering: .relaxed)
        sumNanoseconds.wrappingAdd(nanoseconds, ordering: .relaxed)
    }

    /// How many durations fell into each bucket, not cumulated; the last is everything above the last bound.
    public var bucketCounts: [Int] { cells.map { $0.storage.load(ordering: .relaxed) } }

    /// The sum of all durations, in seconds.
    public var sumSeconds: Double { Double(sumNanoseconds.load(ordering: .relaxed)) / 1_000_000_000 }
}
