import Essentials

/// Decides when a message that the broker refused (`basic.nack`), or that no queue took (`basic.return`), is published
/// again, and when it is abandoned.
///
/// The waits grow from 100 milliseconds to five seconds, by the number of refusals of the message. The last try comes
/// when the patience ends.
struct RefusedPublishes {
    private struct History {
        let sinceNanoseconds: UInt64
        var count = 0
    }

    private static let backOff = BackOff(baseNanoseconds: 100_000_000, capNanoseconds: 5_000_000_000)

    private let patienceNanoseconds: UInt64
    private var histories: [UInt64: History] = [:]

    /// Creates a policy.
    ///
    /// - Parameter patienceSeconds: how long one message may be refused; 0 gives it up at once.
    init(patienceSeconds: Double) { patienceNanoseconds = UInt64(max(0, patienceSeconds) * 1_000_000_000) }

    /// How many messages have been refused and have not ended.
    var count: Int { histories.count }

    /// A message was refused.
    ///
    /// - Returns: the delay before it is published again, in nanoseconds; nil if it is abandoned.
    mutating func refused(_ identifier: UInt64, nowNanoseconds now: UInt64) -> UInt64? {
        var history = histories[identifier] ?? History(sinceNanoseconds: now)
        let elapsed = now &- history.sinceNanoseconds
        guard elapsed < patienceNanoseconds else { return nil }
        history.count += 1
        histories[identifier] = history
        return min(Self.backOff.longestWaitNanoseconds(afterFailures: history.count), patienceNanoseconds - elapsed)
    }

    /// A message ended.
    mutating func ended(_ identifier: UInt64) {
        if !histories.isEmpty { histories[identifier] = nil }
    }
}

/// Detects a channel of the broker that refuses a queue permanently.
///
/// A channel of RabbitMQ can remember a dead node, if it first publishes to a quorum queue between the death of the
/// leader's node and the new leader's announcement. It then refuses everything for the queue while the node is away;
/// other channels do not. A queue that is full refuses on all channels, so a new channel is tried at longer and longer
/// intervals.
struct NackMonitor {
    /// The longest time that refusals go on before the next new channel, in nanoseconds.
    static let patienceNanosecondsMaximum: UInt64 = 60_000_000_000

    private let patienceNanosecondsMinimum: UInt64
    private var patienceNanoseconds: UInt64
    /// When each queue or exchange refused first since it last took something.
    private var refusedSinceNanoseconds: [String: UInt64] = [:]

    /// Creates a watch over a new channel.
    ///
    /// - Parameter patienceSeconds: how long refusals may go on before the first new channel.
    init(patienceSeconds: Double) {
        patienceNanosecondsMinimum = UInt64(max(0, patienceSeconds) * 1_000_000_000)
        patienceNanoseconds = patienceNanosecondsMinimum
    }

    /// Whether anything was refused that has not been taken since.
    var isWatching: Bool { !refusedSinceNanoseconds.isEmpty }

    /// A queue or an exchange refused a message.
    ///
    /// - Returns: whether it has refused everything for so long that a new channel is worth a try.
    mutating func refused(by target: String, nowNanoseconds now: UInt64) -> Bool {
        guard let since = refusedSinceNanoseconds[target] else {
            refusedSinceNanoseconds[target] = now
            return false
        }
        return now &- since >= patienceNanoseconds
    }

    /// A queue or an exchange took a message.
    mutating func taken(by target: String) {
        guard refusedSinceNanoseconds.removeValue(forKey: target) != nil, !isWatching else { return }
        patienceNanoseconds = patienceNanosecondsMinimum
    }

    /// There is a new channel, because of refusals or for another reason.
    mutating func channelOpened(becauseOfRefusals: Bool) {
        refusedSinceNanoseconds = [:]
        guard becauseOfRefusals else { return }
        patienceNanoseconds = min(2 * patienceNanoseconds, Self.patienceNanosecondsMaximum)
    }
}
