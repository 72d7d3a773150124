/// Tells an app that is slow from one that is only busy, by how long it takes until everything of it that is in hand
/// has ended.
///
/// An app that holds more than its share is watched: once as many deliveries have ended as were in hand, they have
/// turned over. If that takes longer than `patienceMilliseconds` the app is slow, and stays so until a turnover was
/// quick again or nothing of it is left.
public struct AppLoad: Hashable, Sendable {
    /// How long a turnover may take.
    public static let patienceMilliseconds: Int64 = 5_000

    private var watchedSinceMilliseconds: Int64?
    private var endedWhenTurnedOver = 0
    private var ended = 0

    /// How many deliveries of the app are in hand.
    public private(set) var inHand = 0
    /// Whether it was slow when it was last looked at.
    public private(set) var isSlow = false

    /// Creates the load of an app of which nothing is in hand.
    public init() {}

    /// Deliveries of the app are in hand.
    public mutating func arrived(_ count: Int) { inHand += count }

    /// Deliveries of the app have been settled.
    public mutating func settled(_ count: Int) {
        inHand -= count
        ended += count
        if inHand == 0 {
            isSlow = false
            watchedSinceMilliseconds = nil
        }
    }

    /// Looks at the app.
    ///
    /// - Parameters:
    ///   - isOverShare: whether it holds more than its share now.
    ///   - now: the wall clock, in milliseconds.
    /// - Returns: whether it is slow and holds more than its share, so that more of it must not be taken in hand.
    public mutating func isHoldingUp(isOverShare: Bool, nowMilliseconds now: Int64) -> Bool {
        guard inHand > 0, isSlow || isOverShare else {
            watchedSinceMilliseconds = nil
            return false
        }
        guard let since = watchedSinceMilliseconds, now >= since else {
            watch(now)
            return isSlow && isOverShare
        }
        let isLate = now - since > Self.patienceMilliseconds
        if ended >= endedWhenTurnedOver {
            isSlow = isLate
            watch(now)
        } else if isLate {
            isSlow = true
        }
        return isSlow && isOverShare
    }

    private mutating func watch(_ now: Int64) {
        watchedSinceMilliseconds = now
        endedWhenTurnedOver = ended + inHand
    }
}
