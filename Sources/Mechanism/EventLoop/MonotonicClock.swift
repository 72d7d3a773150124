import Glibc

/// The clock that never goes back: nanoseconds since an arbitrary start.
public enum MonotonicClock {
    /// Reads the clock now, in nanoseconds.
    public static func nowNanoseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }
}
