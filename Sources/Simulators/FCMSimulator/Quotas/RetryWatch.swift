/// Watches whether a sender waits as long as Google asks for: a pure state machine, whose time is an argument.
///
/// Source: Google, "Best practices when sending FCM messages at scale": after 429 as long as the answer says, or a
/// minute; after 5xx as long as the answer says, and at least ten seconds.
struct RetryWatch {
    private static let serverErrorSeconds: Int64 = 10
    private static let throttlingSeconds: Int64 = 60
    /// The most messages that are watched; one more makes the watch forget all others.
    private static let messagesMaximum = 1_000_000

    private var notBefore: [UInt128: (milliseconds: Int64, isThrottling: Bool)] = [:]

    /// Messages that came back within ten seconds of 5xx, or sooner than its `retry-after` said.
    private(set) var earlyAfterServerError = 0
    /// Messages that came back before the end of `retry-after`, or of a minute, after 429.
    private(set) var earlyAfterThrottling = 0

    /// Whether any message may come back early.
    var isWatching: Bool { !notBefore.isEmpty }

    /// Notes that a message has come.
    mutating func came(_ identity: UInt128, nowMilliseconds now: Int64) {
        guard let (milliseconds, isThrottling) = notBefore.removeValue(forKey: identity), now < milliseconds else {
            return
        }
        if isThrottling { earlyAfterThrottling += 1 } else { earlyAfterServerError += 1 }
    }

    /// Notes the answer to a message.
    ///
    /// - Parameters:
    ///   - identity: which message.
    ///   - status: the HTTP status.
    ///   - retryAfter: the header, in seconds; a date is not understood.
    ///   - now: the time, in milliseconds since 1970.
    mutating func answered(_ identity: UInt128, status: Int, retryAfter: String?, nowMilliseconds now: Int64) {
        guard status == 429 || status >= 500 else { return }
        let isThrottling = status == 429
        let usual = isThrottling ? Self.throttlingSeconds : Self.serverErrorSeconds
        if notBefore.count >= Self.messagesMaximum { notBefore.removeAll(keepingCapacity: true) }
        var seconds = retryAfter.flatMap { Int64($0) }.map { min(max(0, $0), 86_400) } ?? usual
        if !isThrottling { seconds = max(seconds, usual) }
        notBefore[identity] = (now + seconds * 1_000, isThrottling)
    }
}
