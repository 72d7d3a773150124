/// How fast FCM passes on messages with a topic: a pure state machine, whose time is an argument.
///
/// It takes the topic for a collapse key: 20 at once to each browser, then one in three minutes. The others are
/// accepted, and come later.
///
/// Source: Google, "Throttling and quotas", of collapsible messages; seen for Web Push as well (21 messages in 3.5
/// seconds, the next ones after 151 and 172 seconds; without a topic 28 in 3.1 seconds).
struct CollapsibleBurst {
    private static let burst: Int64 = 20
    private static let refillMilliseconds: Int64 = 180_000
    /// How many browsers are watched at once; the watch over further ones begins anew.
    private static let browsersMaximum = 1_000_000

    private var browsers: [Int: (left: Int64, refilledMilliseconds: Int64)] = [:]

    /// Whether a message with a topic comes later, because too many came before it.
    mutating func isDelayed(_ index: Int, nowMilliseconds now: Int64) -> Bool {
        if browsers.count >= Self.browsersMaximum, browsers[index] == nil {
            browsers.removeAll(keepingCapacity: true)
        }
        var (left, refilled) = browsers[index] ?? (Self.burst, now)
        let added = max(0, now - refilled) / Self.refillMilliseconds
        left = min(Self.burst, left + added)
        refilled = left == Self.burst ? now : refilled + added * Self.refillMilliseconds
        defer { browsers[index] = (left, refilled) }
        guard left > 0 else { return true }
        left -= 1
        return false
    }
}
