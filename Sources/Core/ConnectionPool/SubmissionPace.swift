/// Spreads submissions over time so that they stay under a quota: a value that gets the time as an argument.
///
/// It is the generic cell rate algorithm (ITU-T I.371): each submission has a theoretical time, one interval after that
/// of the one before, and may come as much early as the burst is long.
struct SubmissionPace: Hashable, Sendable {
    /// The submissions that may come at once after a pause, as a time at the usual rate.
    static let burstNanoseconds: UInt64 = 100_000_000
    /// How long the pool waits after it has met the bound, so that it does not wake up for each submission.
    static let pauseNanoseconds: UInt64 = 10_000_000

    private let intervalNanoseconds: UInt64
    /// The theoretical time of the next submission.
    private var nextNanoseconds: UInt64 = 0

    /// Bounds submissions to so many in a minute, at least one.
    init(perMinute count: Int) { intervalNanoseconds = 60_000_000_000 / UInt64(max(1, count)) }

    /// Whether a submission may happen now.
    func allows(nowNanoseconds: UInt64) -> Bool { nextNanoseconds <= nowNanoseconds &+ Self.burstNanoseconds }

    /// When to look again, after it was not allowed now.
    func retryNanoseconds(nowNanoseconds: UInt64) -> UInt64 {
        max(nextNanoseconds &- Self.burstNanoseconds, nowNanoseconds &+ Self.pauseNanoseconds)
    }

    /// A submission has happened.
    mutating func submitted(nowNanoseconds: UInt64) {
        nextNanoseconds = max(nextNanoseconds, nowNanoseconds) &+ intervalNanoseconds
    }
}
