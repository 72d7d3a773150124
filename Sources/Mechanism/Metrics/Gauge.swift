import Synchronization

/// A number that goes up and down; any thread may change it, without a lock.
public final class Gauge: Sendable {
    private let storage = Atomic<Int>(0)

    init() {}

    /// Replaces the value.
    public func set(_ value: Int) { storage.store(value, ordering: .relaxed) }

    /// Changes the value by a difference, which may be negative.
    public func add(_ difference: Int) { storage.wrappingAdd(difference, ordering: .relaxed) }

    /// The value.
    public var value: Int { storage.load(ordering: .relaxed) }
}
