import Essentials

/// How many pushes of large fan-outs may be out while others are under way, found from how long they take.
///
/// All pushes go through the same queues: of the worker, of the connections, of APNs. When pushes begin to take longer
/// than they did on an idle way, a queue is building up, in which the pushes of small events wait too. So the window
/// grows while the quickest of the last answers was about as quick as ever, and shrinks when it was not. It is a
/// scavenger's window: it uses the capacity that others leave.
///
/// Delays are taken finely, because a queue of half a millisecond is long on a way of a tenth. However slow answers
/// are, as many pushes stay out as an idle way would carry at `leastPerSecond`, so that a fan-out never stands still.
///
/// Source: the idea of RFC 6817 (LEDBAT), with rounds of answers in place of packets.
struct BulkCongestionWindow: Hashable, Sendable {
    /// How many answers are looked at together: the quickest of them tells of a queue, which delays them all.
    static let answersPerRound = 32
    /// How long the quickest answer is remembered, at least; the way to APNs changes.
    static let memoryMilliseconds: Int64 = 300_000
    /// The least delay that counts as a queue.
    static let toleranceNanoseconds: UInt64 = 500_000
    /// The part of the way's own time that counts as a queue, if that is more.
    private static let toleranceDivisor: UInt64 = 8
    /// The rate that the smallest window has on an idle way.
    static let leastPerSecond: UInt64 = 2_500
    /// The smallest window on a way that takes next to no time.
    static let leastPushes = 2

    private let maximum: Int
    private var quickestBefore = UInt64.max
    private var quickest = UInt64.max
    private var quickestSince: MonotonicTime?
    private var quickestOfRound = UInt64.max
    private var answersOfRound = 0
    private var answersSinceShrinking = 0

    /// How many pushes may be out.
    private(set) var size: Int

    /// Creates a window.
    ///
    /// - Parameter maximum: the most pushes that it ever lets out; at least 1.
    init(maximum: Int) {
        self.maximum = max(1, maximum)
        size = max(1, maximum / 8)
    }

    /// The pushes a millisecond that fill the window again while it is answered, and a quarter more, so that the window
    /// stays the limit; nil while the length of the way is unknown.
    var pushesPerMillisecond: Double? {
        let base = min(quickest, quickestBefore)
        return base == .max ? nil : 1.25 * Double(size) / (Double(max(base, 1)) / 1_000_000)
    }

    /// A bulk push was answered.
    ///
    /// - Parameters:
    ///   - delay: how long after it was sent, in nanoseconds.
    ///   - isRestricted: whether the window is in force, so that the delay is its effect.
    ///   - now: when it is.
    mutating func pushEnded(afterNanoseconds delay: UInt64, isRestricted: Bool, at now: MonotonicTime) {
        quickestOfRound = min(quickestOfRound, delay)
        answersOfRound += 1
        guard answersOfRound == Self.answersPerRound else { return }
        let current = quickestOfRound
        answersOfRound = 0
        quickestOfRound = .max
        remember(current, now)
        if isRestricted { adapt(to: current) }
    }

    private mutating func remember(_ current: UInt64, _ now: MonotonicTime) {
        let since = quickestSince ?? now
        quickestSince = since
        if now.milliseconds(since: since) >= Self.memoryMilliseconds {
            quickestBefore = quickest
            quickest = .max
            quickestSince = now
        }
        quickest = min(quickest, current)
    }

    /// Grows by an eighth, or shrinks by a quarter, once per window of answers: the effect of a change is not visible
    /// sooner.
    private mutating func adapt(to current: UInt64) {
        let base = min(quickest, quickestBefore)
        answersSinceShrinking += Self.answersPerRound
        if current - base <= max(Self.toleranceNanoseconds, base / Self.toleranceDivisor) {
            size = min(maximum, size + max(1, min(size, Self.answersPerRound) / 8))
        } else if answersSinceShrinking >= size {
            answersSinceShrinking = 0
            size = max(minimum(base), size - max(1, size / 4))
        }
    }

    /// The pushes that an idle way of `base` nanoseconds carries at the least rate; at most a part of the whole.
    private func minimum(_ base: UInt64) -> Int {
        let carried = Int(clamping: min(base, 1_000_000_000) * Self.leastPerSecond / 1_000_000_000)
        return min(max(1, maximum / 32), max(Self.leastPushes, carried))
    }
}

/// Spreads the pushes of large fan-outs over time while others are under way.
///
/// Pushes that go out all at once are answered all at once, and then the next ones go out all at once. On a long way a
/// whole window of pushes would repeatedly precede a small event. So they go out about as fast as a window is answered,
/// and hardly any faster.
///
/// Source: the idea of pacing in TCP (RFC 9438, appendix; Linux, `tcp_update_pacing_rate`).
struct BulkPacer: Hashable, Sendable {
    /// The largest saved allowance, in milliseconds of the rate: a timer may be late by that much.
    static let savedMillisecondsMaximum = 2.0

    private var saved = 0.0
    private var latest: MonotonicTime?

    /// Creates a pace with nothing saved up.
    init() {}

    /// Lets time pass.
    ///
    /// - Parameters:
    ///   - rate: how many pushes may go out in a millisecond.
    ///   - now: when it is.
    /// - Returns: how many may go out now.
    mutating func allowance(perMillisecond rate: Double, at now: MonotonicTime) -> Int {
        // The first moment counts as a millisecond.
        let passed = latest.map { Double(now.nanoseconds(since: $0)) / 1_000_000 } ?? 1
        latest = now
        saved = min(saved + rate * passed, max(1, rate * Self.savedMillisecondsMaximum))
        return max(0, Int(saved))
    }

    /// Pushes have gone out.
    mutating func wentOut(_ count: Int) { saved -= Double(count) }
}
