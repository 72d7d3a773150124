import Synchronization

/// The faults of one simulator, which all its loops and its control port share.
final class FaultBook: Sendable {
    private let plan: Mutex<FaultPlan>
    /// Looked at for every request; the plan itself only if there is one.
    private let hasRules: Atomic<Bool>
    private let connections = Atomic<Int>(0)

    init(rules: [FaultRule], seed: UInt64) {
        plan = Mutex(FaultPlan(rules: rules, seed: seed))
        hasRules = Atomic(!rules.isEmpty)
    }

    var isActive: Bool { hasRules.load(ordering: .relaxed) }

    /// How many faults have happened.
    var faultCount: Int { plan.withLock { $0.faultCount } }

    func add(_ rule: FaultRule) {
        plan.withLock { $0.add(rule) }
        hasRules.store(true, ordering: .relaxed)
    }

    func removeAll() {
        plan.withLock { $0.removeAll() }
        hasRules.store(false, ordering: .relaxed)
    }

    /// The number of a connection that has come, and its faults.
    func connectionCame() -> (number: Int, faults: [Fault]) {
        let number = connections.wrappingAdd(1, ordering: .relaxed).newValue
        return (number, isActive ? plan.withLock { $0.connectionCame(number) } : [])
    }

    func requestCame(_ request: FaultPlan.Request) -> Fault? { plan.withLock { $0.requestCame(request) } }
}
