/// The figures that a deployment must keep at a rate.
public struct CapacityGoal: Sendable, Equatable {
    /// A percentile that may not be exceeded.
    public struct Limit: Sendable, Equatable {
        /// The share of the pushes, for example 0.99.
        public var share: Double
        /// Its name, for example `p99`.
        public var name: String
        /// The longest latency, in microseconds.
        public var microseconds: UInt64

        /// Creates a limit.
        public init(share: Double, name: String, microseconds: UInt64) {
            self.share = share
            self.name = name
            self.microseconds = microseconds
        }
    }

    /// The limits, all of which must hold.
    public let limits: [Limit]

    /// Creates a goal of one limit or more.
    public init(_ first: Limit, _ others: [Limit] = []) { limits = [first] + others }

    /// Judges a run.
    ///
    /// A run that lost or refused something has failed, however fast the rest was.
    public func verdict(on result: LoadResult) -> CapacitySearch.Verdict {
        let totals = result.totals
        if totals.refused + totals.returned > 0 {
            return .failed("RabbitMQ refused \(totals.refused) and returned \(totals.returned) events")
        }
        if result.unpublished > 0 {
            return .failed("\(result.unpublished) events could not be published in time: RabbitMQ confirms too slowly")
        }
        if totals.measuredPushes == 0 { return .failed("no push was measured") }
        for limit in limits {
            let value = result.pushLatency.percentile(limit.share)
            guard value > limit.microseconds else { continue }
            var reason = "\(limit.name) was \(DurationText.of(value)), above \(DurationText.of(limit.microseconds))"
            let delay = result.publishDelay.percentile(limit.share)
            let confirm = result.confirmLatency.percentile(limit.share)
            if delay > limit.microseconds / 2 {
                reason += "; publishing alone was \(DurationText.of(delay)) late"
            } else if confirm > limit.microseconds {
                reason += "; RabbitMQ's confirm alone took \(DurationText.of(confirm))"
            }
            return .failed(reason)
        }
        if result.missingPushes > 0 {
            return .failed("\(result.missingPushes) pushes had not arrived when the wait for them ended")
        }
        return .held
    }

    /// Whether a run cannot keep the goal any more, so that its rest would only fill the queues.
    ///
    /// Three seconds in which half of the pushes took four times as long as the loosest limit allows are taken for it.
    public func isHopeless(_ samples: [LoadSample]) -> Bool {
        guard let loosest = limits.map(\.microseconds).max() else { return false }
        let recent = samples.filter(\.isMeasured).suffix(3)
        return recent.count == 3 && recent.allSatisfy { $0.p50 > 4 * loosest }
    }
}
