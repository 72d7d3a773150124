public import Essentials

/// Tells an app that is slow from one that is only busy, by how its unsettled deliveries end.
///
/// An app that has more than its share of the unsettled deliveries is slow in two cases:
///
/// | it is | when | until |
/// |---|---|---|
/// | silent | nothing of it was answered or ended for `silenceMilliseconds`, others went on | something of it is |
/// | late | its unsettled deliveries took longer than the patience to end | a turnover is quick, or none is left |
///
/// The more deliveries an app has, the sooner its silence counts, so that it is noticed before it has all of them. An
/// app with all deliveries may be silent for `silenceMilliseconds`, an app with half of them for twice as long. Silence
/// counts only if other apps have ended many deliveries meanwhile: a worker that was stopped gets answers from no app.
public struct AppBacklog: Hashable, Sendable {
    /// How long an app that has all unsettled deliveries may be silent.
    public static let silenceMilliseconds: Int64 = 125
    /// How many deliveries of others must have ended meanwhile.
    public static let othersEndedLeast = 64
    /// How long an app without unsettled deliveries is remembered as a silent one.
    public static let memoryMilliseconds: Int64 = 60_000

    private var watchedSince: MonotonicTime?
    private var endedWhenTurnedOver = 0
    private var isLate = false

    private var silentSince = MonotonicTime(nanoseconds: 0)
    private var othersEndedBefore = 0
    private var isSilent = false

    /// How many deliveries of the app are unsettled.
    public private(set) var unsettled = 0
    /// How many have ended so far.
    public private(set) var ended = 0

    /// Whether it was slow when it was last looked at.
    public var isSlow: Bool { isSilent || isLate }

    /// Creates the backlog of an app without deliveries.
    public init() {}

    /// Deliveries of the app arrived.
    ///
    /// - Parameters:
    ///   - count: how many.
    ///   - othersEnded: how many deliveries of other apps have ended so far.
    ///   - now: when it is.
    public mutating func arrived(_ count: Int, othersEnded: Int, at now: MonotonicTime) {
        if unsettled == 0, !isSilent { listen(othersEnded, now) }
        unsettled += count
    }

    /// A push of the app was answered.
    public mutating func wasAnswered(othersEnded: Int, at now: MonotonicTime) {
        isSilent = false
        listen(othersEnded, now)
    }

    /// Deliveries of the app have been settled.
    public mutating func settled(_ count: Int, othersEnded: Int, at now: MonotonicTime) {
        ended += count
        wasAnswered(othersEnded: othersEnded, at: now)
        release(count)
    }

    /// Deliveries of the app were abandoned; that says nothing for it.
    public mutating func abandoned(_ count: Int) { release(count) }

    private mutating func release(_ count: Int) {
        unsettled -= count
        assert(unsettled >= 0, "more deliveries have ended than were unsettled")
        guard unsettled == 0 else { return }
        isLate = false
        watchedSince = nil
    }

    /// Looks at the app.
    ///
    /// - Parameters:
    ///   - isOverShare: whether it has more than its share of deliveries now.
    ///   - unsettledMaximum: the most deliveries of all apps that can be unsettled.
    ///   - othersEnded: how many deliveries of other apps have ended so far.
    ///   - now: when it is.
    /// - Returns: whether it is slow and has more than its share, so that its further deliveries are deferred.
    public mutating func shouldDefer(
        isOverShare: Bool, unsettledMaximum: Int, othersEnded: Int, at now: MonotonicTime
    ) -> Bool {
        lookForSilence(isOverShare, unsettledMaximum, othersEnded, now)
        lookForTurnover(isOverShare, now)
        return isSlow && isOverShare
    }

    // MARK: Silence

    private mutating func lookForSilence(
        _ isOverShare: Bool, _ unsettledMaximum: Int, _ othersEnded: Int, _ now: MonotonicTime
    ) {
        let silence = now.milliseconds(since: silentSince)
        if unsettled == 0 {
            if silence >= Self.memoryMilliseconds { isSilent = false }
        } else if isOverShare, othersEnded - othersEndedBefore >= Self.othersEndedLeast,
            silence * Int64(unsettled) >= Self.silenceMilliseconds * Int64(unsettledMaximum)
        {
            isSilent = true
        }
    }

    private mutating func listen(_ othersEnded: Int, _ now: MonotonicTime) {
        silentSince = now
        othersEndedBefore = othersEnded
    }

    // MARK: Turnover

    private mutating func lookForTurnover(_ isOverShare: Bool, _ now: MonotonicTime) {
        guard unsettled > 0, isLate || isOverShare else {
            watchedSince = nil
            return
        }
        guard let since = watchedSince else { return watch(now) }
        let isOverdue = now.milliseconds(since: since) > AppHealth.patienceMilliseconds
        if ended >= endedWhenTurnedOver {
            isLate = isOverdue
            watch(now)
        } else if isOverdue {
            isLate = true
        }
    }

    private mutating func watch(_ now: MonotonicTime) {
        watchedSince = now
        endedWhenTurnedOver = ended + unsettled
    }
}
