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

/// A number that goes up and down; any thread may change it, without a lock.
public final class Gauge: Sendable {
    private let storage = Atomic<Int>(0)

    /// A gauge that begins at 0, and that no registry shows.
    public init() {}

    /// Replaces the value.
    public func set(_ value: Int) { storage.store(value, ordering: .relaxed) }

    /// Changes the value by a difference, which may be negative.
    public func add(_ difference: Int) { storage.wrappingAdd(difference, ordering: .relaxed) }

    /// The value.
    public var value: Int { storage.load(ordering: .relaxed) }
}
