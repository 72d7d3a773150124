import EventLoop
import Synchronization

/// A clock that stands still until it is moved.
public final class MovableClock: Sendable {
    private let milliseconds = Atomic<Int64>(WallClock.nowMilliseconds())

    /// Sets it to the present time.
    public init() {}

    /// The time of the clock, in milliseconds since 1970.
    public var nowMilliseconds: Int64 { milliseconds.load(ordering: .sequentiallyConsistent) }

    /// Moves it.
    public func advance(bySeconds seconds: Int64) {
        milliseconds.add(seconds * 1_000, ordering: .sequentiallyConsistent)
    }
}
