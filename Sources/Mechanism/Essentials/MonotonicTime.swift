/// A point in time of the monotonic clock, in nanoseconds since an arbitrary start.
///
/// Spans and deadlines use this clock, because it cannot be set. Its values have nothing in common with `WallTime`, and
/// mean nothing to another process.
public struct MonotonicTime: Hashable, Comparable, Sendable {
    /// Nanoseconds since the start of the clock.
    public let nanoseconds: UInt64

    /// Creates a point in time from a reading of the monotonic clock.
    public init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    /// The point in time that is so many nanoseconds later, or the last one that there is.
    public func advanced(byNanoseconds duration: UInt64) -> MonotonicTime {
        let (sum, overflows) = nanoseconds.addingReportingOverflow(duration)
        return MonotonicTime(nanoseconds: overflows ? .max : sum)
    }

    /// The point in time that is so many milliseconds later, or the last one that there is.
    public func advanced(byMilliseconds duration: UInt64) -> MonotonicTime {
        let (product, overflows) = duration.multipliedReportingOverflow(by: 1_000_000)
        return advanced(byNanoseconds: overflows ? .max : product)
    }

    /// How many nanoseconds have passed since an earlier point in time; 0 if it is not earlier.
    public func nanoseconds(since earlier: MonotonicTime) -> UInt64 {
        nanoseconds > earlier.nanoseconds ? nanoseconds - earlier.nanoseconds : 0
    }

    /// How many whole milliseconds have passed since an earlier point in time; 0 if it is not earlier.
    public func milliseconds(since earlier: MonotonicTime) -> Int64 {
        // At most 2^64 / 10^6, which always fits.
        Int64(nanoseconds(since: earlier) / 1_000_000)
    }

    /// Whether the left one is earlier.
    public static func < (left: MonotonicTime, right: MonotonicTime) -> Bool { left.nanoseconds < right.nanoseconds }
}

/// A reading of both clocks at one moment: the wall clock for dates, the monotonic clock for spans and deadlines.
public struct Moment: Hashable, Sendable {
    /// The date, which an operator may set forwards or backwards.
    public let wall: WallTime
    /// The time since some start, which only grows.
    public let monotonic: MonotonicTime

    /// Combines two readings.
    public init(wall: WallTime, monotonic: MonotonicTime) {
        self.wall = wall
        self.monotonic = monotonic
    }
}
