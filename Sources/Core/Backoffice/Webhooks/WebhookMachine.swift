public import ChangeEvents
public import Essentials
public import Messages

/// Decides for one endpoint which outcomes are posted when, which wait in a retry queue, and which are given up: a pure
/// state machine.
///
/// Each app has a machine of its own, with deliveries and requests of its own. So a failing endpoint does not
/// delay the others.
///
/// - A limited number of requests is under way at once. While the endpoint fails, it is one, between pauses
///   (`WebhookPauses`).
/// - An outcome that was not taken is copied to a retry queue, and its delivery is acknowledged when RabbitMQ has
///   confirmed the copy. A copy that RabbitMQ does not take is published again later. So a kill loses nothing.
/// - A delivery that waits here for too long goes to a retry queue as well, without an attempt, because RabbitMQ ends
///   consumers that hold one for half an hour.
/// - After a 410, and when the process ends, nothing is posted any more, and the deliveries go back to their queue.
public struct WebhookMachine: Sendable {
    /// An action for the shell.
    public enum Action: Sendable {
        /// Post the outcome, and call `answered`.
        case post(WebhookJob)
        /// Publish the message to the retry queue of the delay, and call `copyEnded`.
        case copy(DeliveryTag, Message, delayMilliseconds: Int64)
        /// Acknowledge the delivery.
        case settle(DeliveryTag)
        /// Say that an outcome is given up, and acknowledge its delivery.
        case drop(WebhookJob, WebhookAnswer)
        /// Stop consuming, so that unacknowledged deliveries go back to their queue.
        case stopConsuming
    }

    /// A copy that RabbitMQ has not confirmed.
    private struct Copy: Sendable {
        let message: Message
        let delayMilliseconds: Int64
        /// When to publish it again; nil while it is under way.
        var again: MonotonicTime?
    }

    /// How long a delivery may wait here, in nanoseconds: ten minutes.
    static let holdNanosecondsMaximum: UInt64 = 600_000_000_000
    /// How long after a copy was not taken it is published again, in nanoseconds.
    static let copyAgainNanoseconds: UInt64 = 5_000_000_000

    private let requestsMaximum: Int
    private let retries: WebhookRetries
    private var waiting: [WebhookJob] = []
    private var underWay: [DeliveryTag: WebhookJob] = [:]
    private var copies: [DeliveryTag: Copy] = [:]
    private var pauses = WebhookPauses()
    private var epoch: UInt32 = 0
    private var isStopping = false
    private var hasStoppedConsuming = false
    /// Whether the endpoint has answered with 410.
    public private(set) var isGone = false

    /// Creates a machine.
    ///
    /// - Parameters:
    ///   - requestsMaximum: how many requests may be under way at once, at least 1.
    ///   - retries: when outcomes are posted again.
    public init(requestsMaximum: Int, retries: WebhookRetries = WebhookRetries()) {
        self.requestsMaximum = max(1, requestsMaximum)
        self.retries = retries
    }

    /// Whether no request and no copy is under way.
    public var isIdle: Bool { underWay.isEmpty && copies.isEmpty }
    /// How many requests are under way.
    public var requestCount: Int { underWay.count }
    /// Whether the endpoint fails, so that requests pause.
    public var isFailing: Bool { pauses.isFailing }

    // MARK: Events

    /// The queue is consumed, from now on with this epoch: RabbitMQ delivers again what an earlier one left.
    public mutating func consumptionBegan(epoch: UInt32) {
        self.epoch = epoch
        waiting.removeAll { $0.tag.epoch != epoch }
    }

    /// Deliveries came.
    public mutating func received(_ jobs: [WebhookJob]) {
        guard !isStopping, !isGone else { return }
        waiting += jobs.filter { $0.tag.epoch == epoch }
    }

    /// The endpoint answered, or did not.
    ///
    /// - Parameters:
    ///   - tag: the delivery that was posted.
    ///   - answer: the answer.
    ///   - now: the time.
    /// - Returns: the actions; the next step follows from `advance`.
    public mutating func answered(_ tag: DeliveryTag, _ answer: WebhookAnswer, at now: Moment) -> [Action] {
        guard let job = underWay.removeValue(forKey: tag) else { return [] }
        switch answer {
        case .taken:
            pauses.succeeded(at: now.monotonic)
            return [.settle(tag)]
        case .malformed: return [.drop(job, answer)]
        case .gone:
            isGone = true
            giveBack()
            return []
        case .busy, .refused, .failed: break
        }
        pauses.failed(answer, at: now.monotonic)
        // It comes again by itself.
        guard tag.epoch == epoch else { return [] }
        let failedAttempts = job.failedAttempts + 1
        let delay = retries.delayMilliseconds(
            afterFailedAttempts: failedAttempts, askedSeconds: answer.retryAfterSeconds, since: job.since, at: now.wall)
        guard let delay else { return [.drop(job, answer)] }
        return [copy(job, failedAttempts: failedAttempts, delayMilliseconds: delay)]
    }

    /// The publish of a copy has ended.
    ///
    /// - Parameters:
    ///   - tag: the delivery that it is a copy of.
    ///   - isTaken: whether RabbitMQ has confirmed it.
    ///   - now: the time.
    /// - Returns: the actions.
    public mutating func copyEnded(_ tag: DeliveryTag, isTaken: Bool, at now: Moment) -> [Action] {
        guard let copy = copies[tag] else { return [] }
        guard !isTaken else {
            copies[tag] = nil
            return [.settle(tag)]
        }
        // RabbitMQ has the outcome still, and delivers it again.
        guard !isStopping, !isGone, tag.epoch == epoch else {
            copies[tag] = nil
            return []
        }
        var later = copy
        later.again = now.monotonic.advanced(byNanoseconds: Self.copyAgainNanoseconds)
        copies[tag] = later
        return []
    }

    /// The process ends: the machine posts nothing more, and forgets waiting deliveries.
    ///
    /// RabbitMQ gives them to another process when consuming stops, which `advance` asks for as soon as nothing is
    /// under way: other endpoints may take longer.
    public mutating func stopBegan() {
        isStopping = true
        giveBack()
    }

    /// Forgets what has not begun: RabbitMQ has it still.
    private mutating func giveBack() {
        waiting = []
        copies = copies.filter { $0.value.again == nil }
    }

    // MARK: The next step

    /// Decides the next actions.
    ///
    /// - Parameter now: the time.
    /// - Returns: the actions, and when to ask again if nothing happens before.
    public mutating func advance(at now: Moment) -> (actions: [Action], wake: MonotonicTime?) {
        guard !isGone, !isStopping else { return (stopConsuming(), nil) }
        var actions = copiesDue(at: now.monotonic) + heldTooLong(at: now.monotonic)
        let isPaused = pauses.end.map { now.monotonic < $0 } ?? false
        let room = isPaused ? 0 : (pauses.isFailing ? 1 : requestsMaximum) - underWay.count
        let next = waiting.prefix(max(0, room))
        waiting.removeFirst(next.count)
        for job in next {
            underWay[job.tag] = job
            actions.append(.post(job))
        }
        return (actions, wake(isPaused: isPaused))
    }

    private mutating func stopConsuming() -> [Action] {
        guard isIdle, !hasStoppedConsuming else { return [] }
        hasStoppedConsuming = true
        return [.stopConsuming]
    }

    private mutating func copy(_ job: WebhookJob, failedAttempts: Int, delayMilliseconds: Int64) -> Action {
        let message = job.copy(failedAttempts: failedAttempts)
        copies[job.tag] = Copy(message: message, delayMilliseconds: delayMilliseconds)
        return .copy(job.tag, message, delayMilliseconds: delayMilliseconds)
    }

    private mutating func copiesDue(at now: MonotonicTime) -> [Action] {
        var actions: [Action] = []
        for (tag, copy) in copies {
            guard let again = copy.again, again <= now else { continue }
            // One of an earlier epoch came again by itself.
            guard tag.epoch == epoch else {
                copies[tag] = nil
                continue
            }
            copies[tag]?.again = nil
            actions.append(.copy(tag, copy.message, delayMilliseconds: copy.delayMilliseconds))
        }
        return actions
    }

    private mutating func heldTooLong(at now: MonotonicTime) -> [Action] {
        let count = waiting.prefix { now.nanoseconds(since: $0.received) >= Self.holdNanosecondsMaximum }.count
        let jobs = waiting.prefix(count)
        waiting.removeFirst(count)
        return jobs.map { job in
            copy(job, failedAttempts: job.failedAttempts, delayMilliseconds: WebhookRetries.delaysMilliseconds[2])
        }
    }

    private func wake(isPaused: Bool) -> MonotonicTime? {
        var times = copies.values.compactMap(\.again)
        if let first = waiting.first {
            times.append(first.received.advanced(byNanoseconds: Self.holdNanosecondsMaximum))
            if isPaused, let end = pauses.end { times.append(end) }
        }
        return times.min()
    }
}
