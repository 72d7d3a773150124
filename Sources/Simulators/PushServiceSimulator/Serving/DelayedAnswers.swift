/// The answers that wait for their time, earliest first: one timer serves them all.
struct DelayedAnswers {
    private var heap: [DelayedAnswer] = []

    /// When the earliest is due, or nil if none waits.
    var nextDueNanoseconds: UInt64? { heap.first?.dueNanoseconds }

    /// Adds an answer.
    mutating func insert(_ answer: DelayedAnswer) {
        heap.append(answer)
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].isDue(before: heap[parent]) else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    /// Takes the earliest answer if it is due.
    mutating func popDue(atNanoseconds now: UInt64) -> DelayedAnswer? {
        guard let first = heap.first, first.dueNanoseconds <= now else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var earliest = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
                if heap[child].isDue(before: heap[earliest]) { earliest = child }
            }
            guard earliest != parent else { return first }
            heap.swapAt(parent, earliest)
            parent = earliest
        }
    }

    /// Forgets all.
    mutating func removeAll() { heap.removeAll() }
}

/// An answer that waits for its time.
struct DelayedAnswer {
    let dueNanoseconds: UInt64
    let sequence: UInt64
    let connection: SimulatorConnection
    let request: RequestState
    let generation: Int
    let answerIndex: Int

    /// Answers that are due at the same time keep the order in which they were decided.
    func isDue(before other: DelayedAnswer) -> Bool {
        (dueNanoseconds, sequence) < (other.dueNanoseconds, other.sequence)
    }
}

/// Draws how long each answer takes.
struct LatencySource {
    private let latency: ServingConfiguration.Latency
    private var state: UInt64

    /// Starts a source; each loop has its own stream of random numbers.
    init(_ latency: ServingConfiguration.Latency, loopIndex: Int) {
        self.latency = latency
        if case .uniform(_, let seed) = latency { state = seed &+ UInt64(loopIndex) } else { state = 0 }
    }

    /// The latency of the next answer, in nanoseconds.
    mutating func nextNanoseconds() -> UInt64 {
        switch latency {
        case .none: return 0
        case .fixed(let milliseconds): return UInt64(max(0, milliseconds)) * 1_000_000
        case .uniform(let range, _):
            let lower = UInt64(max(0, range.lowerBound)) * 1_000_000
            let upper = UInt64(max(0, range.upperBound)) * 1_000_000
            return lower + nextRandom() % (upper - lower + 1)
        }
    }

    /// SplitMix64 (Steele, Lea and Flood, 2014): small, and the same on every machine.
    private mutating func nextRandom() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
