/// When a pool grows: how long pushes have waited, and whether the last growth was of any use.
///
/// | state | means | can transition to |
/// |---|---|---|
/// | calm | nothing waits | pressed, when a push finds no stream |
/// | pressed | pushes wait without a pause | calm, when none waits; grown, after the measuring time |
/// | grown | it has grown, and measures again | calm, as above; grown, if the rate rose; paused, if not |
/// | paused | growing was in vain: we or the peer are busy | pressed, when the pause is over |
///
/// The measure keeps a pool on a short way from opening connections that only split the same rate, while it grows to
/// its limit on a long one, where each connection adds its streams for every round trip.
struct PoolGrowth: Sendable {
    /// A growth that is yet to be judged.
    struct Step: Sendable {
        /// How many connections there were.
        let before: Int
        /// How many were added.
        let added: Int
        /// Answers a second before it.
        let rate: Double
    }

    /// The share of a proportional gain that a growth must bring.
    private static let gainShareMinimum = 0.3
    /// A rate is measured over this many mean times to an answer, which tend to come in bursts.
    private static let latenciesPerMeasure: UInt64 = 4
    /// The longest time of a measure.
    private static let measureNanosecondsMaximum: UInt64 = 2_000_000_000
    private static let pauseDoublingsMaximum = 6

    /// How many pushes were answered, ever.
    private(set) var answerCount: UInt64 = 0
    /// The mean time from submission to answer, of late.
    private(set) var latencyNanoseconds: UInt64 = 0
    /// Since when pushes have waited without a pause; nil if none waits.
    private(set) var pressedSinceNanoseconds: UInt64?
    private(set) var pausedUntilNanoseconds: UInt64 = 0
    private(set) var step: Step?
    /// The number of requested connections that are not useful yet, as far as known.
    private(set) var openingsToCome = 0
    private var measureBeganNanoseconds: UInt64 = 0
    private var answerCountAtBegin: UInt64 = 0
    private var growthsInVain = 0

    /// A push was answered.
    mutating func answered(afterNanoseconds latency: UInt64) {
        answerCount &+= 1
        latencyNanoseconds = latencyNanoseconds &- latencyNanoseconds >> 3 &+ latency >> 3
    }

    /// Everything that can be submitted has been.
    mutating func submissionsEnded(areSomeWaiting: Bool, nowNanoseconds: UInt64) {
        if !areSomeWaiting {
            pressedSinceNanoseconds = nil
            step = nil
            growthsInVain = 0
        } else if pressedSinceNanoseconds == nil {
            pressedSinceNanoseconds = nowNanoseconds
            beginMeasure(nowNanoseconds)
        }
    }

    /// The pool has asked for so many more connections.
    mutating func connectionsWanted(_ count: Int) { openingsToCome = count }

    /// The awaited connections have had their time: their growth is not judged.
    mutating func connectionsAreLate() {
        openingsToCome = 0
        step = nil
    }

    /// A connection has become useful.
    ///
    /// If it was awaited, and does not replace another one, the measurement from here on counts for the pool's present
    /// size.
    mutating func connectionOpened(nowNanoseconds: UInt64) {
        guard openingsToCome > 0 else { return }
        openingsToCome -= 1
        beginMeasure(nowNanoseconds)
    }

    /// When there will be a measure to decide on; nil while nothing waits.
    func dueNanoseconds(pressureNanoseconds: UInt64) -> UInt64? {
        guard pressedSinceNanoseconds != nil else { return nil }
        let latencies = latencyNanoseconds.multipliedReportingOverflow(by: Self.latenciesPerMeasure)
        let measure = min(
            max(pressureNanoseconds, latencies.overflow ? .max : latencies.partialValue),
            max(pressureNanoseconds, Self.measureNanosecondsMaximum))
        return max(measureBeganNanoseconds &+ measure, pausedUntilNanoseconds)
    }

    /// Whether the last growth brought too little; then the pool is to take it back, and pauses.
    mutating func judge(nowNanoseconds: UInt64, pauseNanoseconds: UInt64) -> Step? {
        guard let step else { return nil }
        self.step = nil
        let needed = step.rate * (1 + Self.gainShareMinimum * Double(step.added) / Double(max(1, step.before)))
        guard rate(nowNanoseconds) < needed else {
            growthsInVain = 0
            return nil
        }
        pausedUntilNanoseconds =
            nowNanoseconds &+ pauseNanoseconds << UInt64(min(growthsInVain, Self.pauseDoublingsMaximum))
        growthsInVain += 1
        return step
    }

    /// The pool grows; the growth is not judged if there was no connection to compare with.
    mutating func grown(from before: Int, by added: Int, nowNanoseconds: UInt64) {
        step = before > 0 ? Step(before: before, added: added, rate: rate(nowNanoseconds)) : nil
        beginMeasure(nowNanoseconds)
    }

    /// Answers a second since the measure began.
    private func rate(_ nowNanoseconds: UInt64) -> Double {
        guard nowNanoseconds > measureBeganNanoseconds else { return 0 }
        return Double(answerCount &- answerCountAtBegin) * 1e9 / Double(nowNanoseconds - measureBeganNanoseconds)
    }

    private mutating func beginMeasure(_ nowNanoseconds: UInt64) {
        measureBeganNanoseconds = nowNanoseconds
        answerCountAtBegin = answerCount
    }
}
