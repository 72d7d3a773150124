import Essentials
import Synchronization

/// Decides which faults happen: the same seed and the same questions give the same answers.
struct FaultPlan: Sendable {
    /// A request that may get a fault.
    struct Request {
        /// Its connection, counted from 1.
        var connection: Int
        /// Its number among the requests of the connection, counted from 1.
        var number: Int
        /// The addressee, as `FaultSyntax` has it.
        var token: [UInt8]
        /// Why it is asked about.
        var trigger = FaultSyntax.Trigger.request
    }

    private(set) var rules: [FaultRule] = []
    /// How many faults have happened.
    private(set) var faultCount = 0
    private var random: SplitMix

    init(rules: [FaultRule] = [], seed: UInt64) {
        self.rules = rules
        random = SplitMix(seed: seed)
    }

    mutating func add(_ rule: FaultRule) { rules.append(rule) }

    mutating func removeAll() { rules = [] }

    /// The faults of a connection that has come.
    mutating func connectionCame(_ number: Int) -> [Fault] {
        var faults: [Fault] = []
        for index in rules.indices where rules[index].befalls(connection: number) {
            if let fault = take(index) { faults.append(fault) }
        }
        return faults
    }

    /// The fault of a request, if it gets one: that of the first matching rule.
    mutating func requestCame(_ request: Request) -> Fault? {
        for index in rules.indices where rules[index].befalls(request) {
            if let fault = take(index) { return fault }
        }
        return nil
    }

    private mutating func take(_ index: Int) -> Fault? {
        let times = rules[index].times
        // The next number of the generator, 0 to 1.
        guard times != 0, Double(random.next() >> 11) / Double(UInt64(1) << 53) < rules[index].probability else {
            return nil
        }
        rules[index].times = times.map { $0 - 1 }
        faultCount += 1
        return rules[index].fault
    }
}

/// The faults of one simulator, which all its loops and its control port share.
public final class FaultBook: Sendable {
    private let plan: Mutex<FaultPlan>
    /// Looked at for every request; the plan itself only if there is one.
    private let hasRules: Atomic<Bool>
    private let connections = Atomic<Int>(0)

    init(_ faults: SimulatorFaults, seed: UInt64) {
        plan = Mutex(FaultPlan(rules: faults.rules, seed: seed))
        hasRules = Atomic(!faults.rules.isEmpty)
    }

    /// Whether there is any fault to decide about.
    public var isActive: Bool { hasRules.load(ordering: .relaxed) }

    /// How many faults have happened.
    public var faultCount: Int { plan.withLock { $0.faultCount } }

    /// Adds faults, which come after those that there are.
    public func add(_ faults: SimulatorFaults) {
        guard !faults.rules.isEmpty else { return }
        plan.withLock { plan in for rule in faults.rules { plan.add(rule) } }
        hasRules.store(true, ordering: .relaxed)
    }

    /// Removes all faults; their effects on existing connections stay.
    public func removeAll() {
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
