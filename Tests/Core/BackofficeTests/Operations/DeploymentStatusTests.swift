import DispatchCore
import RegistryCore
import Testing

@testable import Backoffice

@Suite("Reports of processes, and what they make together")
struct DeploymentStatusTests {
    private static let start: Int64 = 1_700_000_000_000
    private static let interval = WorkerReportRules.intervalMilliseconds

    private static func status(accepted: Int, inFlight: Int = 0) -> WorkerStatus {
        var status = WorkerStatus(
            kind: .worker, host: "host-a", processIdentifier: 7, version: "1.0", startedAtMilliseconds: start)
        var app = WorkerStatus.App(name: "chat")
        app.totals.matched = accepted
        app.totals.accepted = accepted
        app.totals.inFlight = inFlight
        status.apps = [app]
        status.lagBoundsSeconds = [0.1, 1, 10]
        return status
    }

    /// Reports of a process that accepts so many pushes in each interval.
    private static func report(_ identifier: String, perInterval: Int, intervals: Int, agoMilliseconds: Int64 = 0)
        -> (report: WorkerReport, now: Int64)
    {
        var recorder = StatusRecorder()
        var last = status(accepted: 0)
        var now = start
        for index in 1...intervals {
            now = start + Int64(index) * interval
            last = status(accepted: perInterval * index)
            recorder.record(&last, lagCounts: [perInterval * index, 0, index, 0], nowMilliseconds: now)
        }
        let reported = now - agoMilliseconds
        return (WorkerReport(identifier: identifier, reportedAtMilliseconds: reported, content: last.json), now)
    }

    @Test("A status survives its way through the registry")
    func roundTrip() throws {
        var status = Self.status(accepted: 12, inFlight: 3)
        status.checks = [
            WorkerStatus.Check(name: "source", failure: nil),
            WorkerStatus.Check(name: "paused", failure: "by mei", onlyDegrades: true),
        ]
        #expect(status.isReady)
        status.checks.append(WorkerStatus.Check(name: "key", failure: "\"refused\" ä"))
        #expect(!status.isReady)
        status.apps[0].problems = ["slow"]
        status.apps[0].openConnections = 2
        status.apps[0].openStreams = 40
        status.unsettledDeliveries = 5
        status.isConsumerPaused = true
        var recorder = StatusRecorder()
        recorder.record(&status, lagCounts: [1, 2, 3, 4], nowMilliseconds: Self.start)
        #expect(WorkerStatus(json: status.json) == status)
    }

    @Test(
        "A report that somebody has edited is left out or read as far as it goes",
        arguments: ["", "x", "[]", "{}", #"{"host":7}"#, #"{"host":"a","apps":7,"samples":[{"end":-1,"lag":["x"]}]}"#])
    func edited(json: String) {
        let report = WorkerReport(
            identifier: "a", reportedAtMilliseconds: Self.start, content: Array(json.utf8))
        let deployment = DeploymentStatus([report], nowMilliseconds: Self.start)
        #expect(deployment.workers.count == (json.contains("\"a\"") ? 1 : 0))
        #expect(deployment.recent.counts == PushCounts())
    }

    @Test("The rates of all fresh processes are summed by the intervals that they share")
    func sums() {
        let (first, now) = Self.report("a", perInterval: 50, intervals: 30)
        let (second, _) = Self.report("b", perInterval: 20, intervals: 30)
        let deployment = DeploymentStatus([first, second], nowMilliseconds: now + 1_000)
        let (counts, seconds) = deployment.recent
        #expect(Double(counts.accepted) / seconds == 14)
        #expect(deployment.intervals.count == 30)
        #expect(deployment.intervals.last?.endMilliseconds == now)
        #expect(deployment.intervals.allSatisfy { $0.counts.accepted == 70 })
    }

    @Test("A process that reports no more counts for the past, and not for now")
    func stale() {
        let (fresh, now) = Self.report("a", perInterval: 50, intervals: 30)
        let (stale, _) = Self.report("b", perInterval: 20, intervals: 10, agoMilliseconds: 0)
        let deployment = DeploymentStatus([fresh, stale], nowMilliseconds: now)
        #expect(deployment.workers.map(\.isStale) == [false, true])
        #expect(deployment.recent.counts.accepted == 150)
        #expect(deployment.intervals.first?.counts.accepted == 70)
    }

    @Test("A process that is a moment late does not make the last interval look poor")
    func late() {
        let (prompt, now) = Self.report("a", perInterval: 50, intervals: 30)
        let (late, _) = Self.report("b", perInterval: 20, intervals: 29)
        let deployment = DeploymentStatus([prompt, late], nowMilliseconds: now + 100)
        #expect(deployment.intervals.last?.counts.accepted == 70)
    }

    @Test("A counter that began anew counts whole, and a clock that was set back replaces samples")
    func restart() {
        var recorder = StatusRecorder()
        var status = Self.status(accepted: 100)
        recorder.record(&status, lagCounts: [100], nowMilliseconds: Self.start)
        status = Self.status(accepted: 7)
        recorder.record(&status, lagCounts: [7], nowMilliseconds: Self.start + Self.interval)
        #expect(status.samples.map(\.counts.accepted) == [100, 7])
        #expect(status.samples.map(\.lagCounts) == [[100], [0]])
        status = Self.status(accepted: 9)
        recorder.record(&status, lagCounts: [9], nowMilliseconds: Self.start)
        #expect(status.samples.map(\.counts.accepted) == [2])
    }

    @Test("Samples are at most sixty, and the next one is due at the end of an interval")
    func bounds() {
        var recorder = StatusRecorder()
        var status = Self.status(accepted: 0)
        for index in 0..<100 {
            recorder.record(&status, lagCounts: [], nowMilliseconds: Self.start + Int64(index) * Self.interval)
        }
        #expect(status.samples.count == WorkerReportRules.samplesMaximum)
        for offset in [0, 1, 2_500, 4_999] as [Int64] {
            let wait = StatusRecorder.millisecondsToNextSample(at: Self.start + offset)
            #expect(wait >= 1 && (Self.start + offset + wait).isMultiple(of: Self.interval))
        }
    }

    @Test("Quantiles are interpolated within their bucket, and above the last bound are that bound")
    func quantiles() {
        var histogram = LagHistogram()
        #expect(histogram.quantile(0.5) == nil)
        histogram.add([0, 100, 0, 0], boundsSeconds: [0.1, 1, 10])
        #expect(histogram.quantile(0.5) == 0.1 + 0.9 * 0.5)
        histogram.add([0, 0, 0, 900], boundsSeconds: [0.1, 1, 10])
        #expect(histogram.quantile(0.99) == 10)
        var other = LagHistogram()
        other.add([10], boundsSeconds: [])
        histogram.add(other)
        #expect(histogram.count == 1_010)
        other.add([.max, .max], boundsSeconds: [1])
        #expect(other.quantile(0) == 0)
    }
}
