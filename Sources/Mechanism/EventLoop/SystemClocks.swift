public import Essentials

/// Both clocks of the system.
public enum SystemClocks {
    /// Reads both clocks now.
    public static func now() -> Moment {
        Moment(
            wall: WallTime(milliseconds: WallClock.nowMilliseconds()),
            monotonic: MonotonicTime(nanoseconds: MonotonicClock.nowNanoseconds()))
    }
}
