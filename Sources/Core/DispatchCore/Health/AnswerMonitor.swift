public import Essentials

/// Notices that a push service takes the pushes of an app and answers none of them.
///
/// A stopwatch runs while pushes of the app are out. Each answer sets it back to 0.
///
/// | state | means | can transition to |
/// |---|---|---|
/// | answering | answers come, or nothing is out | silent, when the stopwatch shows the patience |
/// | silent | pushes go out, none is answered | answering, with the next answer, or after a long time without pushes |
///
/// An attempt without an answer does not stop the stopwatch, because the same push goes out again. The time in which
/// the worker itself stood still does not count, because the answers are there then, and have only not been read yet.
/// Nor do attempts count together that lie ten minutes apart.
public struct AnswerMonitor: Hashable, Sendable {
    /// The most that the time between two calls counts, in milliseconds: more means that the worker stood still.
    public static let stepMilliseconds: UInt64 = 2_000
    /// How long silence is remembered while nothing is sent, in milliseconds: the service may have recovered long ago.
    public static let memoryMilliseconds: Int64 = 900_000

    /// After a pause of so many milliseconds without any push out, the stopwatch begins at 0.
    public static let pauseMilliseconds: Int64 = 600_000

    private var latest = MonotonicTime(nanoseconds: 0)
    private var stopwatchNanoseconds: UInt64 = 0

    /// How many pushes are out.
    public private(set) var pushesOut = 0
    /// Whether the service was silent at the last look.
    public private(set) var isSilent = false

    /// Creates a monitor that has seen nothing.
    public init() {}

    /// How long pushes have been out without any answer, in milliseconds.
    public var unansweredMilliseconds: Int64 { Int64(stopwatchNanoseconds / 1_000_000) }

    /// A push went out.
    public mutating func pushWentOut(at now: MonotonicTime) {
        if pushesOut == 0 {
            if !isSilent, now.milliseconds(since: latest) >= Self.pauseMilliseconds { stopwatchNanoseconds = 0 }
            latest = now
        } else {
            advance(to: now)
        }
        pushesOut += 1
    }

    /// The service answered a push, with any status; `pushEnded` follows, unless the push stays out.
    public mutating func pushWasAnswered(at now: MonotonicTime) {
        latest = now
        stopwatchNanoseconds = 0
        isSilent = false
    }

    /// A push is out no more, whether or not it was answered.
    public mutating func pushEnded(at now: MonotonicTime) {
        advance(to: now)
        pushesOut -= 1
        assert(pushesOut >= 0, "more pushes of the app have ended than were out")
    }

    /// Finds out whether the service is silent; to be called every second or two while pushes are out.
    ///
    /// - Parameters:
    ///   - patienceMilliseconds: how long one push may take to be answered.
    ///   - now: when it is.
    public mutating func look(patienceMilliseconds: Int64, at now: MonotonicTime) {
        advance(to: now)
        if unansweredMilliseconds >= patienceMilliseconds { isSilent = true }
        if isSilent, pushesOut == 0, now.milliseconds(since: latest) >= Self.memoryMilliseconds { self = Self() }
    }

    private mutating func advance(to now: MonotonicTime) {
        guard pushesOut > 0 else { return }
        stopwatchNanoseconds += min(now.nanoseconds(since: latest), Self.stepMilliseconds * 1_000_000)
        latest = max(latest, now)
    }
}
