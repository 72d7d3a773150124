/// Finds the highest rate that a deployment holds: doubles the rate until one fails, then halves the gap.
///
/// A rate fails only when it fails twice in a row, because one hiccup of a machine says nothing about its capacity. At
/// the end the limit is measured once more: if it holds now, it failed by chance, and the search goes on above it.
public struct CapacitySearch: Sendable {
    /// Whether a deployment held a rate.
    public enum Verdict: Sendable, Equatable {
        /// It did.
        case held
        /// It did not, for this reason.
        case failed(String)
    }

    /// A measured rate.
    public struct Step: Sendable, Equatable {
        /// The events a second.
        public var perSecond: Double
        /// Whether the deployment held it.
        public var verdict: Verdict
        /// The latency at the percentile of `CapacitySearch.limit`, in microseconds; 0 if there was no push.
        public var microseconds: UInt64
    }

    /// After so many steps the search ends with what it has: a system that changes all the time has no knee.
    static let stepsMaximum = 60

    private let firstPerSecond: Double
    private let maximumPerSecond: Double
    private let precision: Double
    /// The rates that failed and are above the best one, the lowest last.
    private var failures: [(perSecond: Double, reason: String)] = []
    private var isLimitConfirmed = false

    /// The limit whose latency a report shows for each rate.
    public let limit: CapacityGoal.Limit
    /// The measured rates, in their order.
    public private(set) var steps: [Step] = []
    /// The highest rate that held; nil if none did.
    public private(set) var bestPerSecond: Double?
    /// The lowest rate above it that failed, with the reason; nil if none did.
    public var failed: (perSecond: Double, reason: String)? { failures.last }
    /// The rate to measure next; nil at the end.
    public private(set) var nextPerSecond: Double?

    /// Begins a search.
    ///
    /// - Parameters:
    ///   - firstPerSecond: the first rate.
    ///   - maximumPerSecond: no rate above this is tried.
    ///   - limit: the limit whose latency a report shows for each rate.
    ///   - precision: the search ends when the gap is smaller than this share of the rate that holds.
    public init(
        firstPerSecond: Double, maximumPerSecond: Double, limit: CapacityGoal.Limit, precision: Double
    ) {
        self.limit = limit
        self.firstPerSecond = max(0.1, min(firstPerSecond, maximumPerSecond))
        self.maximumPerSecond = max(maximumPerSecond, 0.1)
        self.precision = min(max(precision, 0.001), 1)
        nextPerSecond = self.firstPerSecond
    }

    /// Notes the verdict about `nextPerSecond`, and chooses the next rate.
    ///
    /// - Parameters:
    ///   - verdict: whether the deployment held it.
    ///   - microseconds: the latency at the percentile of `limit`.
    public mutating func measured(_ verdict: Verdict, microseconds: UInt64) {
        guard let rate = nextPerSecond else { return }
        let isSecondTry = steps.last?.perSecond == rate
        steps.append(Step(perSecond: rate, verdict: verdict, microseconds: microseconds))
        let isLimit = failed?.perSecond == rate
        switch verdict {
        case .held:
            if isLimit {
                failures.removeLast()
                isLimitConfirmed = false
            }
            bestPerSecond = rate
        case .failed(let reason):
            guard isSecondTry || isLimit else { return }
            if isLimit {
                isLimitConfirmed = true
            } else {
                failures.append((rate, reason))
                isLimitConfirmed = false
            }
        }
        nextPerSecond = steps.count < Self.stepsMaximum ? next() : nil
    }

    private func next() -> Double? {
        guard let failed else {
            guard let best = bestPerSecond, best < maximumPerSecond else { return nil }
            return min(2 * best, maximumPerSecond)
        }
        guard let best = bestPerSecond else {
            // Nothing has held yet: downwards, as far as makes sense.
            let half = failed.perSecond / 2
            return half >= max(0.1, firstPerSecond / 1_024) ? half : nil
        }
        if failed.perSecond - best > precision * best { return (failed.perSecond + best) / 2 }
        return isLimitConfirmed ? nil : failed.perSecond
    }
}
