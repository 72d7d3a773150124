public import Essentials
import Glibc

/// Both clocks of the system.
public enum SystemClocks {
    /// Reads both clocks now.
    public static func now() -> Moment {
        Moment(
            wall: WallTime(milliseconds: WallClock.nowMilliseconds()),
            monotonic: MonotonicTime(nanoseconds: MonotonicClock.nowNanoseconds()))
    }
}

/// The clock on the wall, which may jump in either direction.
public enum WallClock {
    /// Reads the clock now, in milliseconds since 1970.
    public static func nowMilliseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) &* 1_000 &+ Int64(time.tv_nsec) / 1_000_000
    }

    /// Reads the clock now, in microseconds since 1970.
    public static func nowMicroseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) &* 1_000_000 &+ Int64(time.tv_nsec) / 1_000
    }
}

/// The clock that never goes back: nanoseconds since an arbitrary start.
public enum MonotonicClock {
    /// Reads the clock now, in nanoseconds.
    public static func nowNanoseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }
}
