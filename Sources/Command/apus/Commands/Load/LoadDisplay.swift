import LoadGenerator

/// Shows a run while it goes on: a block that replaces itself on a terminal, a line every five seconds elsewhere.
struct LoadDisplay {
    /// Bars of the last seconds, scaled to the highest of them.
    private static let bars = Array("▁▂▃▄▅▆▇█")
    private static let barsMaximum = 30
    private static let plainLineSeconds = 5

    private let isTerminal = StandardError.isTerminal
    private var shownLines = 0
    private var sampleCount = 0
    private var recent: [LoadSample] = []

    /// Shows the next second.
    ///
    /// - Parameters:
    ///   - sample: the second.
    ///   - totals: the counts so far.
    ///   - seconds: how long the run is to be.
    mutating func show(_ sample: LoadSample, _ totals: LoadTotals, of seconds: Double) {
        recent.append(sample)
        if recent.count > Self.barsMaximum { recent.removeFirst() }
        sampleCount += 1
        guard isTerminal else {
            if sampleCount % Self.plainLineSeconds == 0 { StandardError.line(LoadText.line(of: sample)) }
            return
        }
        let phase = sample.seconds > seconds ? "waiting for pushes" : sample.isMeasured ? "measuring" : "warming up"
        var lines = [
            "\(Int(sample.seconds)) of \(Int(seconds)) s, \(phase)",
            "published  \(LoadText.rate(sample.publishedPerSecond))  \(bar { $0.publishedPerSecond })",
            "pushed     \(LoadText.rate(sample.pushedPerSecond))  \(bar { $0.pushedPerSecond })",
            "latency    \(LoadText.latency(of: sample))  \(bar { Double($0.p99) })",
        ]
        let due = totals.expectedPushes - totals.pushes
        var state = "open       \(sample.unconfirmed) unconfirmed, \(due) pushes to come"
        if let queue = sample.queue {
            state += ", \(queue.waiting) waiting in queues, \(queue.consumers) consumers"
        }
        lines.append(state)
        let failed = totals.refused + totals.returned + totals.duplicatePushes + totals.rejectedPushes
        if failed > 0 {
            lines.append(
                "errors     \(totals.refused) refused, \(totals.returned) returned, \(totals.duplicatePushes) twice, "
                    + "\(totals.rejectedPushes) rejected")
        }
        StandardError.replaceLines(shownLines, with: lines)
        shownLines = max(lines.count, shownLines)
    }

    private func bar(_ value: (LoadSample) -> Double) -> String {
        let values = recent.map(value)
        let maximum = max(values.max() ?? 0, 1e-9)
        return String(values.map { Self.bars[min(7, Int($0 / maximum * 7.999))] })
    }
}
