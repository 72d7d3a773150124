import Synchronization

/// A wall clock that a test sets.
public final class ManualWallClock: Sendable {
    private let now: Atomic<Int64>

    /// Creates a clock that stands at a moment, in milliseconds since 1970.
    public init(nowMilliseconds: Int64 = 1_700_000_000_000) { now = Atomic(nowMilliseconds) }

    /// What it shows.
    public var nowMilliseconds: Int64 { now.load(ordering: .sequentiallyConsistent) }

    /// Moves it, forwards or back.
    public func advance(milliseconds: Int64) { now.wrappingAdd(milliseconds, ordering: .sequentiallyConsistent) }
}
