import Synchronization

/// Counts across tasks.
final class Counter: Sendable {
    private let storage = Atomic<Int>(0)

    func add() { storage.wrappingAdd(1, ordering: .relaxed) }

    var value: Int { storage.load(ordering: .relaxed) }
}
