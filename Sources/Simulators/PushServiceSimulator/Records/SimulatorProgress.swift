import Synchronization

/// The number of requests that all loops have answered.
public final class SimulatorProgress: Sendable {
    private let answered = Atomic<Int>(0)

    /// Begins with none.
    public init() {}

    /// Notes one more answer.
    public func requestAnswered() { answered.add(1, ordering: .relaxed) }

    /// How many there are.
    var answeredCount: Int { answered.load(ordering: .relaxed) }
}
