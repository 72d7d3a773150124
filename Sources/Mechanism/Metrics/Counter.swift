import Synchronization

/// A number that only grows; any thread may add to it, without a lock.
public final class Counter: Sendable {
    private let storage = Atomic<Int>(0)

    init() {}

    /// Adds to the counter.
    public func add(_ count: Int = 1) { storage.wrappingAdd(count, ordering: .relaxed) }

    /// The sum of everything added.
    public var value: Int { storage.load(ordering: .relaxed) }
}
