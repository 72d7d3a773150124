import EventLoop

/// The clock of the limits that scenarios set.
enum Deadline {
    /// The monotonic clock, in seconds.
    static func now() -> Double { Double(MonotonicClock.nowNanoseconds()) / 1_000_000_000 }
}
