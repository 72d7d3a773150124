import EventLoop
import Synchronization

/// A clock that stands still until it is moved.
final class MovableClock: Sendable {
    private let milliseconds = Atomic<Int64>(WallClock.nowMilliseconds())

    /// What the clock shows, in milliseconds since 1970.
    var nowMilliseconds: Int64 { milliseconds.load(ordering: .sequentiallyConsistent) }

    /// Moves it.
    func advance(bySeconds seconds: Int64) {
        milliseconds.add(seconds * 1_000, ordering: .sequentiallyConsistent)
    }
}
