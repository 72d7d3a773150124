import DispatchCore
import Essentials
import RegistryCore

/// Makes samples of a process's counters: the ended pushes of each interval of the last minutes.
///
/// Intervals end at multiples of their length, so those of all processes fit together.
public struct StatusRecorder: Sendable {
    private var lastTotals: [PushCounts] = []
    private var lastLagCounts: [Int] = []
    private var recentByApp: [[PushCounts]] = []
    private var samples: [WorkerStatus.Sample] = []

    /// Creates a recorder that has seen nothing.
    public init() {}

    /// How long to wait for the end of the present interval, in milliseconds: 1 to the interval's length.
    public static func millisecondsToNextSample(at nowMilliseconds: Int64) -> Int64 {
        let interval = WorkerReportRules.intervalMilliseconds
        return interval - WallTime(milliseconds: nowMilliseconds).milliseconds % interval
    }

    /// Takes the counters at the end of an interval, and completes a status with the samples.
    ///
    /// - Parameters:
    ///   - status: the status with the totals of its apps.
    ///   - lagCounts: how many pushes fell into each bucket of the lag since the start.
    ///   - nowMilliseconds: when it is.
    public mutating func record(_ status: inout WorkerStatus, lagCounts: [Int], nowMilliseconds: Int64) {
        let interval = WorkerReportRules.intervalMilliseconds
        let now = WallTime(milliseconds: nowMilliseconds).milliseconds
        var counts = PushCounts()
        for (index, app) in status.apps.enumerated() {
            if !lastTotals.indices.contains(index) {
                lastTotals.append(PushCounts())
                recentByApp.append([])
            }
            let difference = app.totals.since(lastTotals[index])
            counts.add(difference)
            lastTotals[index] = app.totals
            recentByApp[index] = (recentByApp[index] + [difference]).suffix(WorkerStatus.recentSamplesCount)
            status.apps[index].recent = recentByApp[index].reduce(into: PushCounts()) { $0.add($1) }
            status.apps[index].recent.inFlight = app.totals.inFlight
        }
        let lag = lagCounts.enumerated().map { index, count in
            max(0, count - (lastLagCounts.indices.contains(index) ? lastLagCounts[index] : 0))
        }
        lastLagCounts = lagCounts
        // A timer may fire a little late, never early by more than a clock that is set.
        let end = (now + interval / 2) / interval * interval
        samples.removeAll { $0.endMilliseconds >= end }
        samples.append(WorkerStatus.Sample(endMilliseconds: end, counts: counts, lagCounts: lag))
        samples = samples.suffix(WorkerReportRules.samplesMaximum)
        status.samples = samples
    }
}
