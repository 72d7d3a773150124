/// Writes results for a terminal.
public enum LoadText {
    /// The lines of a result.
    public static func lines(of result: LoadResult) -> [String] {
        let totals = result.totals
        var lines: [String] = []
        let header = LoadResult.shares.map(\.name) + ["max"]
        lines.append(padded("latency", 20) + header.map { padded($0, 10, isLeft: false) }.joined())
        for (name, histogram) in result.latencyRows {
            let values = LoadResult.shares.map { histogram.percentile($0.share) } + [histogram.maximum]
            let texts = histogram.count == 0 ? values.map { _ in "–" } : values.map(DurationText.of)
            lines.append(padded(name, 20) + texts.map { padded($0, 10, isLeft: false) }.joined())
        }
        lines.append("")
        let asked = DurationText.threeDigits(result.intendedPerSecond)
        lines.append(
            "published   \(rate(result.publishedPerSecond)) of \(asked)/s asked for; "
                + "\(totals.published) events, \(totals.confirmed) confirmed")
        lines.append(
            "pushed      \(rate(result.pushedPerSecond)); \(totals.pushes) of \(totals.expectedPushes) pushes")
        if let waiting = result.waitingMaximum { lines.append("waiting     \(waiting) messages at most") }
        lines.append("errors      " + errors(of: result))
        if result.coalescedEvents > 0 {
            lines.append("coalesced   \(result.coalescedEvents) changes, which a push with a newer change made up for")
        }
        return lines + result.warnings.map { "warning: \($0)" }
    }

    /// Returns the errors of a run in one line.
    public static func errors(of result: LoadResult) -> String {
        let totals = result.totals
        let counts: [(Int, String)] = [
            (totals.refused, "events refused"), (totals.returned, "events returned (no queue)"),
            (result.unpublished, "events never published"), (result.missingPushes, "pushes missing"),
            (totals.duplicatePushes, "pushes twice"), (totals.rejectedPushes, "pushes rejected"),
        ]
        let found = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return found.isEmpty ? "none" : found.joined(separator: ", ")
    }

    /// One line about a second of a run.
    public static func line(of sample: LoadSample) -> String {
        var text = padded("\(DurationText.fixed(sample.seconds, decimals: 0)) s", 7, isLeft: false)
        text += "  published \(rate(sample.publishedPerSecond))  pushed \(rate(sample.pushedPerSecond))"
        text += "  \(latency(of: sample))  unconfirmed \(sample.unconfirmed)"
        if let queue = sample.queue { text += "  waiting \(queue.waiting)" }
        return sample.isMeasured ? text : text + "  (warming up)"
    }

    /// The latencies of a second, if any push came.
    public static func latency(of sample: LoadSample) -> String {
        guard sample.maximum > 0 else { return "no pushes" }
        return "p50 \(DurationText.of(sample.p50))  p99 \(DurationText.of(sample.p99))  "
            + "max \(DurationText.of(sample.maximum))"
    }

    /// The lines of a search for the capacity.
    public static func lines(of search: CapacitySearch) -> [String] {
        var lines: [String] = []
        if let best = search.bestPerSecond {
            lines.append("capacity    \(rate(best)) events held")
        } else {
            lines.append("capacity    no rate held")
        }
        if let failed = search.failed { lines.append("limit       \(rate(failed.perSecond)) failed: \(failed.reason)") }
        if search.failed == nil, search.nextPerSecond == nil {
            lines.append("limit       not reached: raise --rate-max to look further")
        }
        return lines
    }

    /// A rate with its unit: `1234/s`.
    public static func rate(_ perSecond: Double) -> String { DurationText.threeDigits(perSecond) + "/s" }

    private static func padded(_ text: String, _ width: Int, isLeft: Bool = true) -> String {
        let blanks = String(repeating: " ", count: max(0, width - text.count))
        return isLeft ? text + blanks : blanks + text
    }
}
