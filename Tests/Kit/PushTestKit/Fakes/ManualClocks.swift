public import Essentials
import EventLoop
import Synchronization

/// Both clocks, which a test sets.
public final class ManualClocks: Sendable {
    private let wallMilliseconds: Atomic<Int64>
    private let monotonicMilliseconds = Atomic<UInt64>(1_000_000)

    /// Creates clocks that stand; the wall clock at a date, in milliseconds since 1970.
    public init(nowMilliseconds: Int64 = 1_700_000_000_000) { wallMilliseconds = Atomic(nowMilliseconds) }

    /// The time of the wall clock, in milliseconds since 1970.
    public var nowMilliseconds: Int64 { wallMilliseconds.load(ordering: .sequentiallyConsistent) }

    /// The time of both clocks.
    public var now: Moment {
        let milliseconds = monotonicMilliseconds.load(ordering: .sequentiallyConsistent)
        return Moment(
            wall: WallTime(milliseconds: nowMilliseconds),
            monotonic: MonotonicTime(nanoseconds: milliseconds &* 1_000_000))
    }

    /// The time of both clocks, with a monotonic clock that runs by itself: for machines whose timers are real.
    public var nowGoingOn: Moment {
        Moment(
            wall: now.wall, monotonic: now.monotonic.advanced(byNanoseconds: MonotonicClock.nowNanoseconds()))
    }

    /// Lets time pass.
    ///
    /// - Parameter milliseconds: how much; at least 0.
    public func advance(milliseconds: Int64) {
        monotonicMilliseconds.wrappingAdd(UInt64(milliseconds), ordering: .sequentiallyConsistent)
        stepWall(milliseconds: milliseconds)
    }

    /// Sets the wall clock forwards or backwards, while no time passes.
    public func stepWall(milliseconds: Int64) {
        wallMilliseconds.wrappingAdd(milliseconds, ordering: .sequentiallyConsistent)
    }
}
