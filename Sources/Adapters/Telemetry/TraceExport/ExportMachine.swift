import Essentials
import Tracing

/// Decides which spans are exported when, and which are dropped: a pure state machine.
///
/// - Spans wait in a queue of bounded length. A span without room is dropped: the worker never waits for the collector.
/// - A batch goes out when it is full, or when its first span has waited for the delay.
/// - One batch is under way at a time. If it fails for now, it is sent again: after the wait that the collector asks
///   for, else after a growing random wait. It is dropped if that is later than the time that a batch has.
/// - The wait counts for the batches after it as well, so that a collector in trouble is left alone.
struct ExportMachine: Sendable {
    /// A task of the shell.
    enum Step: Sendable {
        /// Send a batch, and call `attemptEnded`.
        case send([Span])
        /// Ask again at this time.
        case wait(until: MonotonicTime)
        /// Ask again when there is news.
        case rest
    }

    /// Why spans are dropped; the raw values are labels of a metric.
    enum Loss: String, CaseIterable, Sendable {
        /// The queue was full.
        case queueFull = "queue_full"
        /// The collector never takes the batch.
        case refused
        /// The collector took the batch, but not these.
        case rejected
        /// The collector took the batch at no attempt.
        case unavailable
        /// The process ended.
        case stopped
    }

    /// The fate of the batch after an attempt.
    struct Ending: Hashable, Sendable {
        /// How many spans the collector took.
        var exportedCount = 0
        /// How many spans are dropped.
        var lostCount = 0
        /// Why they are dropped.
        var loss = Loss.unavailable
    }

    private struct Batch {
        let spans: [Span]
        let begun: MonotonicTime
    }

    private static let backOff = BackOff(baseNanoseconds: 1_000_000_000, capNanoseconds: 30_000_000_000)
    /// No collector is waited for longer than this, whatever it asks for.
    private static let waitSecondsMaximum = 600

    private let limits: TraceExportLimits
    private var queue: [Span] = []
    /// When the first span of the queue came.
    private var waitingSince: MonotonicTime?
    private var batch: Batch?
    private var isAttemptUnderWay = false
    private var failuresInRow = 0
    /// When the collector may be asked again, after a failure.
    private var notBefore: MonotonicTime?
    /// The time until which waiting spans are exported once the process ends.
    private var end: MonotonicTime?

    init(_ limits: TraceExportLimits) { self.limits = limits }

    /// How many spans wait or are under way.
    var count: Int { queue.count + (batch?.spans.count ?? 0) }

    /// Spans have ended.
    ///
    /// - Parameters:
    ///   - spans: the spans.
    ///   - now: the time.
    /// - Returns: how many of them are dropped, and whether the shell has to ask for its next step.
    mutating func submitted(_ spans: [Span], at now: MonotonicTime) -> (droppedCount: Int, isNews: Bool) {
        guard end == nil else { return (spans.count, false) }
        let before = queue.count
        queue.append(contentsOf: spans.prefix(limits.queueMaximum - before))
        guard queue.count > before else { return (spans.count, false) }
        if before == 0 { waitingSince = now }
        let fillsBatch = before < limits.batchMaximum && queue.count >= limits.batchMaximum
        return (spans.count - (queue.count - before), batch == nil && (before == 0 || fillsBatch))
    }

    /// Returns the next task of the shell.
    mutating func nextStep(at now: MonotonicTime) -> Step {
        guard !isAttemptUnderWay, count > 0 else { return .rest }
        if let notBefore, now < notBefore { return .wait(until: notBefore) }
        if batch == nil {
            let due = (waitingSince ?? now).advanced(byNanoseconds: limits.delayNanoseconds)
            guard end != nil || queue.count >= limits.batchMaximum || now >= due else { return .wait(until: due) }
        }
        let batch = batch ?? takeBatch(at: now)
        self.batch = batch
        isAttemptUnderWay = true
        return .send(batch.spans)
    }

    private mutating func takeBatch(at now: MonotonicTime) -> Batch {
        let spans = Array(queue.prefix(limits.batchMaximum))
        queue.removeFirst(spans.count)
        // The rest came later, and how much later is not worth knowing.
        waitingSince = queue.isEmpty ? nil : now
        return Batch(spans: spans, begun: now)
    }

    /// The collector answered, or did not.
    ///
    /// - Parameters:
    ///   - answer: the answer to the batch.
    ///   - retryAfterSeconds: how long it asks to wait.
    ///   - now: the time.
    ///   - random: draws the wait.
    /// - Returns: the fate of the batch.
    mutating func attemptEnded(
        _ answer: TraceExportAnswer, retryAfterSeconds: Int?, at now: MonotonicTime,
        using random: inout some RandomNumberGenerator
    ) -> Ending {
        isAttemptUnderWay = false
        guard let batch else { return Ending() }
        let count = batch.spans.count
        switch answer {
        case .taken(let rejectedCount, _):
            collectorAnswered()
            let lostCount = min(count, rejectedCount)
            return Ending(exportedCount: count - lostCount, lostCount: lostCount, loss: .rejected)
        case .refused:
            collectorAnswered()
            return Ending(lostCount: count, loss: .refused)
        case .retryable:
            failuresInRow += 1
            let next = now.advanced(byNanoseconds: waitNanoseconds(retryAfterSeconds, using: &random))
            notBefore = next
            let lastAttempt = batch.begun.advanced(byNanoseconds: limits.batchLifeNanoseconds)
            guard next > min(lastAttempt, end ?? lastAttempt) else { return Ending() }
            self.batch = nil
            return Ending(lostCount: count, loss: .unavailable)
        }
    }

    private mutating func collectorAnswered() {
        batch = nil
        failuresInRow = 0
        notBefore = nil
    }

    private func waitNanoseconds(_ retryAfterSeconds: Int?, using random: inout some RandomNumberGenerator) -> UInt64 {
        guard let seconds = retryAfterSeconds, seconds > 0 else {
            return Self.backOff.waitNanoseconds(afterFailures: failuresInRow, using: &random)
        }
        return UInt64(min(seconds, Self.waitSecondsMaximum)) * 1_000_000_000
    }

    /// The process ends: no more spans are taken, and the waiting ones are exported until a time.
    mutating func stopBegan(until end: MonotonicTime) { self.end = end }

    /// The process has ended.
    ///
    /// - Returns: how many spans are dropped.
    mutating func stopped() -> Int {
        defer {
            queue = []
            batch = nil
        }
        return count
    }
}
