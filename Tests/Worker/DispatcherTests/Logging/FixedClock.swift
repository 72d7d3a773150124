import Synchronization

/// A wall clock that only moves when a test moves it.
final class FixedClock: Sendable {
    private let storage = Atomic<Int64>(1_714_979_289_012)

    var milliseconds: Int64 { storage.load(ordering: .relaxed) }

    func advance(milliseconds: Int64) { storage.add(milliseconds, ordering: .relaxed) }
}
