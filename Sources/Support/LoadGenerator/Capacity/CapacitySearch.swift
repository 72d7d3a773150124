/// Finds the highest rate that a deployment holds: doubles the rate until one fails, then halves the gap.
///
/// A rate fails only when it fails twice in a row, because one hiccup of a machine says nothing about its capacity.
public struct CapacitySearch: Sendable, Equatable {
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
    }

    private let firstPerSecond: Double
    private let maximumPerSecond: Double
    private let precision: Double

    /// The measured rates, in their order.
    public private(set) var steps: [Step] = []
    /// The highest rate that held; nil if none did.
    public private(set) var bestPerSecond: Double?
    /// The lowest rate above it that failed, with the reason; nil if none did.
    public private(set) var failed: (perSecond: Double, reason: String)?
    /// The rate to measure next; nil at the end.
    public private(set) var nextPerSecond: Double?

    /// Begins a search.
    ///
    /// - Parameters:
    ///   - firstPerSecond: the first rate.
    ///   - maximumPerSecond: no rate above this is tried.
    ///   - precision: the search ends when the gap is smaller than this share of the rate that holds.
    public init(firstPerSecond: Double, maximumPerSecond: Double, precision: Double) {
        self.firstPerSecond = max(0.1, min(firstPerSecond, maximumPerSecond))
        self.maximumPerSecond = max(maximumPerSecond, 0.1)
        self.precision = min(max(precision, 0.001), 1)
        nextPerSecond = self.firstPerSecond
    }

    /// Notes the verdict about `nextPerSecond`, and chooses the next rate.
    public mutating func measured(_ verdict: Verdict) {
        guard let rate = nextPerSecond else { return }
        let isSecondTry = steps.last?.perSecond == rate
        steps.append(Step(perSecond: rate, verdict: verdict))
        switch verdict {
        case .held: bestPerSecond = rate
        case .failed(let reason):
            guard isSecondTry else { return }
            failed = (rate, reason)
        }
        nextPerSecond = next()
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
        guard failed.perSecond - best > precision * best else { return nil }
        return (failed.perSecond + best) / 2
    }

    /// Compares the rates, verdicts and reasons.
    public static func == (left: CapacitySearch, right: CapacitySearch) -> Bool {
        left.steps == right.steps && left.nextPerSecond == right.nextPerSecond
            && left.bestPerSecond == right.bestPerSecond
    }
}
