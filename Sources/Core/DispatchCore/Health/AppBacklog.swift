import Essentials

/// Distinguishes a slow app from a busy one, by the outcomes of its unsettled deliveries.
///
/// An app with more than its share of the unsettled deliveries is slow in two cases:
///
/// | it is | when | until |
/// |---|---|---|
/// | silent | nothing of it was answered or ended for `silenceMilliseconds`, others went on | something of it is |
/// | late | its deliveries took longer than the patience to end | a turnover is quick, or nothing is left |
///
/// The more deliveries an app has, the sooner its silence counts, so that it is noticed before it has all of them. The
/// time is for an app with all deliveries; one with half of them may be silent for twice as long. Silence counts only
/// if others have ended a good many deliveries meanwhile, because a worker that was stopped gets no answers at all.
struct AppBacklog: Hashable, Sendable {
    /// How long an app that has all unsettled deliveries may be silent.
    static let silenceMilliseconds: Int64 = 125
    /// How many deliveries of others must have ended meanwhile.
    static let othersEndedLeast = 64
    /// The time that an app without deliveries is remembered as a silent one.
    static let memoryMilliseconds: Int64 = 60_000

    private var watchedSince: MonotonicTime?
    private var endedWhenTurnedOver = 0
    private var isLate = false

    private var silentSince = MonotonicTime(nanoseconds: 0)
    private var othersEndedBefore = 0
    private var isSilent = false

    /// The number of unsettled deliveries of the app.
    private(set) var unsettled = 0
    /// How many have ended so far.
    private(set) var ended = 0

    /// Whether it was slow when it was last looked at.
    var isSlow: Bool { isSilent || isLate }

    /// Creates the load of an app without deliveries.
    init() {}

    /// Adds deliveries of the app.
    ///
    /// - Parameters:
    ///   - count: how many.
    ///   - othersEnded: how many deliveries of other apps have ended so far.
    ///   - now: when it is.
    mutating func arrived(_ count: Int, othersEnded: Int, at now: MonotonicTime) {
        if unsettled == 0, !isSilent { listen(othersEnded, now) }
        unsettled += count
    }

    /// A push of the app was answered.
    mutating func wasAnswered(othersEnded: Int, at now: MonotonicTime) {
        isSilent = false
        listen(othersEnded, now)
    }

    /// Deliveries of the app have been settled.
    mutating func settled(_ count: Int, othersEnded: Int, at now: MonotonicTime) {
        ended += count
        wasAnswered(othersEnded: othersEnded, at: now)
        release(count)
    }

    /// Removes abandoned deliveries of the app; they say nothing for it.
    mutating func abandoned(_ count: Int) { release(count) }

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
    ///   - isOverShare: whether it holds more than its share now.
    ///   - unsettledMaximum: the most unsettled deliveries of all apps.
    ///   - othersEnded: how many deliveries of other apps have ended so far.
    ///   - now: when it is.
    /// - Returns: whether it is slow and exceeds its share, so that no more of its deliveries may be admitted.
    mutating func shouldDefer(
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
