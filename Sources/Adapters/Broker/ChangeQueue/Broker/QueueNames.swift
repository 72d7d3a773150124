/// The names of the exchanges and queues of one namespace.
public struct QueueNames: Hashable, Sendable {
    /// The most work queues that there can be.
    public static let workQueuesMaximum = 64

    /// How all of them begin.
    public let namespace: String

    /// Creates the names of a namespace.
    public init(namespace: String) { self.namespace = namespace }

    /// The topic exchange that backends publish to.
    public var changes: String { "\(namespace).changes" }
    /// The queue that workers consume.
    public var work: String { "\(namespace).work" }
    /// One of several work queues: `apus.work`, `apus.work.2`, `apus.work.3`, and so on.
    ///
    /// The first queue has the name of a single queue, so retries, replayed dead letters and older messages need not
    /// move when the number changes.
    ///
    /// - Parameter number: which one, from 1.
    /// - Returns: its name.
    public func work(_ number: Int) -> String { number <= 1 ? work : "\(work).\(number)" }
    /// The consistent-hash exchange that spreads the events over several work queues.
    public var workHash: String { "\(work).hash" }
    /// The queue of the continuations of large fan-outs.
    public var fanout: String { "\(namespace).fanout" }
    /// The queue of messages that need a person, which commands collect.
    public var deadLetter: String { "\(namespace).dead-letter" }
    /// The lock of a command that works with dead letters: an exclusive queue, which ends with its connection.
    public var deadLetterLock: String { "\(namespace).dead-letter.lock" }
    /// The topic exchange of what became of each push.
    public var outcomes: String { "\(namespace).outcomes" }
    /// The queue of the outcomes that are counted.
    public var analytics: String { "\(outcomes).analytics" }

    /// The queue of the outcomes that are posted to the backend of an app.
    public func webhook(app: String) -> String { "\(outcomes).webhook.\(app)" }

    /// The queue in which such an outcome waits for its next attempt: `apus.outcomes.webhook-retry.5m.chat`.
    ///
    /// The app comes last, because its name may hold dots, and may look like the name of another queue.
    public func webhookRetry(app: String, delayMilliseconds: Int64) -> String {
        "\(outcomes).webhook-retry.\(delay(delayMilliseconds)).\(app)"
    }

    /// How the names of all retry queues begin.
    var retryPrefix: String { "\(namespace).retry." }

    /// The retry queue of a delay, named by the largest unit that divides it: `apus.retry.90s`, `apus.retry.2m`.
    public func retry(delayMilliseconds: Int64) -> String { retryPrefix + delay(delayMilliseconds) }

    private func delay(_ delayMilliseconds: Int64) -> String {
        let units: [(name: String, milliseconds: Int64)] = [("h", 3_600_000), ("m", 60_000), ("s", 1_000)]
        for unit in units where delayMilliseconds > 0 && delayMilliseconds.isMultiple(of: unit.milliseconds) {
            return "\(delayMilliseconds / unit.milliseconds)\(unit.name)"
        }
        return "\(delayMilliseconds)ms"
    }
}
