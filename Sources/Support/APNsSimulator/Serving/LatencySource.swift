/// Draws how long each answer takes.
struct LatencySource {
    private let latency: SimulatorConfiguration.Latency
    private var state: UInt64

    /// Starts a source; each loop has its own stream of random numbers.
    init(_ latency: SimulatorConfiguration.Latency, loopIndex: Int) {
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
