import Essentials

/// Decides when a message that the broker refused (`basic.nack`) is published again, and when it is given up.
///
/// The waits grow from 100 milliseconds to five seconds, by the number of refusals of the message.
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
    /// - Returns: how long to wait before it is published again, in nanoseconds; nil if it is given up.
    mutating func refused(_ identifier: UInt64, nowNanoseconds now: UInt64) -> UInt64? {
        var history = histories[identifier] ?? History(sinceNanoseconds: now)
        guard now &- history.sinceNanoseconds < patienceNanoseconds else { return nil }
        history.count += 1
        histories[identifier] = history
        return Self.backOff.longestWaitNanoseconds(afterFailures: history.count)
    }

    /// A message ended.
    mutating func ended(_ identifier: UInt64) {
        if !histories.isEmpty { histories[identifier] = nil }
    }
}
