import EventLoop

/// The monotonic clock in seconds, for the generous deadlines that only end a hang.
enum MonotonicSeconds {
    static func now() -> Double { Double(MonotonicClock.nowNanoseconds()) / 1_000_000_000 }
}
