import AMQP
import EventLoop
import StructuredLogging
import Synchronization

/// The work queues beyond the configured number.
///
/// A worker empties them and then stops consuming them, because `apus topology apply` deletes such a queue only when
/// it has no consumer. Until then a quiet queue may get further events, so the worker probes it from time to time.
struct RetiredQueues {
    private struct Queue {
        var isConsumed = true
        var isQuiet = true
        var heldCount = 0
    }

    /// The longest pause between probes.
    ///
    /// A probe costs a connection; an event in a quiet queue waits for the next probe.
    private static let ticksBetweenProbesMaximum = 4

    private var queues: [String: Queue]
    private var ticksBetweenProbes = 1
    private var ticksUntilProbe = 1
    /// The deliveries of these queues that are not settled.
    private var held: [UInt64: String] = [:]

    /// Begins with queues that are consumed.
    init(tags: [String] = []) { queues = Dictionary(uniqueKeysWithValues: tags.map { ($0, Queue()) }) }

    var isEmpty: Bool { queues.isEmpty }

    var count: Int { queues.count }

    /// The tags of all of them, consumed or not.
    var tags: [String] { queues.keys.sorted() }

    /// The tags of the queues that have no consumer at present, and are probed.
    var unconsumedTags: [String] { queues.filter { !$0.value.isConsumed }.keys.sorted() }

    /// A delivery came, of any queue.
    mutating func received(_ number: UInt64, tag: String) {
        guard queues[tag] != nil else { return }
        held[number] = tag
        queues[tag]?.heldCount += 1
        queues[tag]?.isQuiet = false
    }

    /// The work of a delivery has ended, of any queue.
    mutating func settled(_ number: UInt64) {
        guard let tag = held.removeValue(forKey: number) else { return }
        queues[tag]?.heldCount -= 1
    }

    /// After a while, returns the queues that brought nothing since the last call and have no unsettled deliveries.
    ///
    /// They count as not consumed from now on.
    mutating func takeQuiet() -> [String] {
        var quiet: [String] = []
        for (tag, queue) in queues where queue.isConsumed {
            let isDone = queue.isQuiet && queue.heldCount == 0
            queues[tag]?.isQuiet = true
            guard isDone else { continue }
            queues[tag]?.isConsumed = false
            quiet.append(tag)
        }
        return quiet.sorted()
    }

    /// Counts a tick, and says whether to probe the queues that have no consumer.
    mutating func isProbeDue() -> Bool {
        ticksUntilProbe -= 1
        return ticksUntilProbe <= 0 && queues.contains { !$0.value.isConsumed }
    }

    /// A probe has ended.
    ///
    /// Probes that find nothing become rarer.
    mutating func probed(hasFoundMessages: Bool) {
        ticksBetweenProbes = hasFoundMessages ? 1 : min(2 * ticksBetweenProbes, Self.ticksBetweenProbesMaximum)
        ticksUntilProbe = ticksBetweenProbes
    }

    /// A queue is consumed again.
    mutating func consume(_ tag: String) {
        queues[tag]?.isConsumed = true
        queues[tag]?.isQuiet = false
    }

    /// A queue is not there any more.
    mutating func remove(_ tag: String) { queues[tag] = nil }
}

/// One probe of queues that have no consumer: how many messages each holds, or that it is gone.
///
/// The probe has its own connection: on the consumer's no request may wait while deliveries flow, and asking there for
/// a deleted queue would end it. The consumer's loop looks at the result with its next tick.
final class RetiredQueueProbe: Sendable {
    private let found = Mutex<[String: Int?]?>(nil)

    /// Starts the probe.
    ///
    /// - Parameters:
    ///   - queues: their tags and names.
    ///   - configuration: where the broker is.
    init(_ queues: [(tag: String, name: String)], _ configuration: BrokerConfiguration) {
        Task {
            let counts = try? await configuration.withSession(purpose: "surplus") { session in
                try queues.map { ($0.tag, try session.queueStatus($0.name)?.messageCount) }
            }
            found.withLock { $0 = Dictionary(uniqueKeysWithValues: counts ?? []) }
        }
    }

    /// Whether the broker has answered, or cannot be had.
    var hasEnded: Bool { found.withLock { $0 != nil } }

    /// How many messages each queue has, by its tag: none if it is gone; empty if the broker could not be had.
    var messageCounts: [String: Int?] { found.withLock { $0 ?? [:] } }
}

/// Emptying the work queues that are left over from a time when there were more.
extension ConsumerCore {
    private static let retiredTickNanoseconds: UInt64 = 3_000_000_000

    /// Watches the retired queues, if the connection found any.
    func watchRetired() {
        guard !retired.isEmpty else { return }
        logger.log(
            .warning, "amqp.consumer.surplus",
            [
                .field("queues", retired.tags.map { "\(configuration.namespace).\($0)" }.joined(separator: ",")),
                .field("workQueues", configuration.workQueueCount),
                .field("advice", "The worker empties them; `apus topology apply` takes them out of use."),
            ])
        scheduleRetired()
    }

    /// The connection has ended, and with it all consumers.
    func forgetRetired() {
        if let retiredTimer { loop.cancel(retiredTimer) }
        retiredTimer = nil
        retiredQueueProbe = nil
        retired = RetiredQueues()
    }

    private func scheduleRetired() {
        retiredTimer = loop.schedule(afterNanoseconds: Self.retiredTickNanoseconds) { [weak self] in
            guard let self else { return }
            retiredTimer = nil
            // A consumer that resumes after a pause opens a new connection, which finds the retired queues again.
            guard connection != nil, !isCancelled, !isPaused, !retired.isEmpty else { return }
            if let probe = retiredQueueProbe, probe.hasEnded {
                retiredQueueProbe = nil
                take(probe.messageCounts)
            }
            cancelQuiet()
            if retiredQueueProbe == nil, retired.isProbeDue() { retiredQueueProbe = startProbe() }
            scheduleRetired()
        }
    }

    private func cancelQuiet() {
        let quiet = retired.takeQuiet()
        guard !quiet.isEmpty else { return }
        logger.log(
            .info, "amqp.consumer.surplus.empty",
            [.field("queues", quiet.map { "\(configuration.namespace).\($0)" }.joined(separator: ","))])
        connection?.burst { session throws(AMQPError) in
            for tag in quiet { try session.cancelConsumer(tag: tag) }
        }
    }

    private func startProbe() -> RetiredQueueProbe {
        let queues = retired.unconsumedTags.map { (tag: $0, name: "\(configuration.namespace).\($0)") }
        return RetiredQueueProbe(queues, configuration)
    }

    private func take(_ messageCounts: [String: Int?]) {
        retired.probed(hasFoundMessages: messageCounts.values.contains { ($0 ?? 0) > 0 })
        for (tag, messageCount) in messageCounts {
            guard let messageCount else {
                retired.remove(tag)
                continue
            }
            guard messageCount > 0 else { continue }
            retired.consume(tag)
            activeTags.insert(tag)
            connection?.burst { session throws(AMQPError) in
                try session.startConsumer(of: "\(configuration.namespace).\(tag)", tag: tag)
            }
        }
        shareOutPrefetch()
    }
}
