/// The books of a run: when each event was meant to be published, and which pushes came of it.
///
/// Thirteen bytes an event, and a sample a second; nothing else grows.
public struct LoadBook: Sendable {
    /// The state of an event's publish.
    private enum Publish {
        static let open: UInt8 = 0
        static let confirmed: UInt8 = 1
        static let refused: UInt8 = 2
    }

    private let plan: LoadPlan
    /// Events that are meant to be published before are not measured, in microseconds since 1970.
    public let measuredFromMicroseconds: Int64
    /// The start of the run, in microseconds since 1970.
    public let startMicroseconds: Int64
    private var intended: [Int64] = []
    private var delivered: [UInt32] = []
    private var publishes: [UInt8] = []
    private var interval = LatencyHistogram()
    private var lastTotals = LoadTotals()
    /// By the number of the kind.
    private var latencies = LoadPlan.Kind.allCases.map { _ in LatencyHistogram() }

    /// The counts so far.
    public private(set) var totals = LoadTotals()
    /// From the intended publish to the push server's answer, in microseconds.
    public private(set) var pushLatency = LatencyHistogram()
    /// From the intended publish to the hand-over to the publisher, in microseconds.
    public private(set) var publishDelay = LatencyHistogram()
    /// From the intended publish to RabbitMQ's confirm, in microseconds.
    public private(set) var confirmLatency = LatencyHistogram()
    /// The run, second by second.
    public private(set) var samples: [LoadSample] = []

    /// Opens the books.
    ///
    /// - Parameters:
    ///   - plan: the events.
    ///   - startMicroseconds: the start of the run, in microseconds since 1970.
    ///   - warmUpSeconds: how long nothing is measured.
    public init(plan: LoadPlan, startMicroseconds: Int64, warmUpSeconds: Double) {
        self.plan = plan
        self.startMicroseconds = startMicroseconds
        measuredFromMicroseconds = startMicroseconds + Int64(warmUpSeconds * 1_000_000)
    }

    /// How many events have no outcome of their publish.
    public var unconfirmedCount: Int { totals.published - totals.confirmed - totals.refused - totals.returned }

    /// The latency of the pushes of each kind of event that there was.
    public var latencyByKind: [(kind: LoadPlan.Kind, histogram: LatencyHistogram)] {
        LoadPlan.Kind.allCases.map { ($0, latencies[Int($0.rawValue)]) }.filter { $0.1.count > 0 }
    }

    // MARK: Events

    /// Notes that the next event was handed to the publisher.
    ///
    /// - Parameters:
    ///   - intendedMicroseconds: when it was meant to be, in microseconds since 1970.
    ///   - microseconds: when it was.
    public mutating func published(intendedMicroseconds: Int64, atMicroseconds microseconds: Int64) {
        let pushes = plan.event(intended.count).pushes
        intended.append(intendedMicroseconds)
        delivered.append(0)
        publishes.append(Publish.open)
        totals.published += 1
        totals.expectedPushes += pushes
        if intendedMicroseconds >= measuredFromMicroseconds {
            publishDelay.record(microseconds - intendedMicroseconds)
            totals.measured += 1
            totals.lastPublishedMicroseconds = microseconds
        }
    }

    /// Notes that RabbitMQ confirmed an event.
    public mutating func confirmed(_ event: Int, atMicroseconds microseconds: Int64) {
        guard publishes.indices.contains(event), publishes[event] == Publish.open else { return }
        publishes[event] = Publish.confirmed
        totals.confirmed += 1
        if intended[event] >= measuredFromMicroseconds { confirmLatency.record(microseconds - intended[event]) }
    }

    /// Notes that an event was not published: refused by RabbitMQ, or returned because no queue takes it.
    public mutating func failed(_ event: Int, isReturned: Bool) {
        guard publishes.indices.contains(event), publishes[event] == Publish.open else { return }
        publishes[event] = Publish.refused
        if isReturned { totals.returned += 1 } else { totals.refused += 1 }
        totals.expectedPushes -= plan.event(event).pushes
    }

    /// Notes a push of the push server's record.
    public mutating func pushed(_ push: RecordedMark) {
        guard delivered.indices.contains(push.event) else { return }
        guard push.isAccepted else {
            totals.rejectedPushes += 1
            return
        }
        guard !push.isRepeated, Int(delivered[push.event]) < plan.event(push.event).pushes else {
            totals.duplicatePushes += 1
            return
        }
        delivered[push.event] += 1
        totals.pushes += 1
        let latency = push.timeMicroseconds - intended[push.event]
        interval.record(latency)
        if intended[push.event] >= measuredFromMicroseconds {
            pushLatency.record(latency)
            latencies[Int(plan.event(push.event).kind.rawValue)].record(latency)
            totals.measuredPushes += 1
            totals.lastMeasuredMicroseconds = max(totals.lastMeasuredMicroseconds, push.timeMicroseconds)
        }
    }

    /// Ends an interval of the time line.
    ///
    /// - Parameters:
    ///   - microseconds: its end, in microseconds since 1970.
    ///   - queue: the depth of the queues at that moment; nil if it is not known.
    /// - Returns: the interval.
    @discardableResult
    public mutating func sample(atMicroseconds microseconds: Int64, queue: LoadSample.Queue?) -> LoadSample {
        let seconds = Double(microseconds - startMicroseconds) / 1_000_000
        let begin = samples.last?.seconds ?? 0
        let length = max(0.001, seconds - begin)
        // Samples are not quite on time.
        let isMeasured = Int64((begin + 0.05) * 1_000_000) >= measuredFromMicroseconds - startMicroseconds
        let sample = LoadSample(
            seconds: seconds, publishedPerSecond: Double(totals.published - lastTotals.published) / length,
            confirmedPerSecond: Double(totals.confirmed - lastTotals.confirmed) / length,
            pushedPerSecond: Double(totals.pushes - lastTotals.pushes) / length,
            p50: interval.percentile(0.5), p99: interval.percentile(0.99), maximum: interval.maximum,
            isMeasured: isMeasured, unconfirmed: unconfirmedCount, queue: queue)
        samples.append(sample)
        interval.removeAll()
        lastTotals = totals
        return sample
    }

    // MARK: At the end

    /// Whether every publish has its outcome, and nothing is missing.
    public var isComplete: Bool {
        guard unconfirmedCount == 0 else { return false }
        return totals.pushes >= totals.expectedPushes || (plan.has(.dataset) && shortfall().missing == 0)
    }

    /// Compares the events that may have arrived with the pushes that did.
    ///
    /// Several changes of one dataset may become one push with the newest sync count, so an older change without a push
    /// is *coalesced* if a newer one of the same device has one.
    public func shortfall() -> (missing: Int, coalesced: Int) {
        var (missing, coalesced) = (0, 0)
        var hasNewer = [Bool](repeating: false, count: plan.has(.dataset) ? plan.deviceCount : 0)
        for event in intended.indices.reversed() where publishes[event] != Publish.refused {
            let planned = plan.event(event)
            let absent = planned.pushes - Int(delivered[event])
            if planned.kind == .dataset {
                if absent == 0 { hasNewer[planned.device] = true } else if hasNewer[planned.device] { coalesced += 1 }
                if absent > 0, !hasNewer[planned.device] { missing += 1 }
            } else {
                missing += absent
            }
        }
        return (missing, coalesced)
    }
}
