/// Spreads the pushes of large fan-outs over time while others are under way.
///
/// What goes out all at once is answered all at once, and then the next lot goes out all at once: on a long way a whole
/// window of pushes would stand before a small event time and again. So they go out about as fast as a window is
/// answered, and hardly any faster.
///
/// Source: the idea of pacing in TCP (RFC 9438, appendix; Linux, `tcp_update_pacing_rate`).
public struct BulkPace: Hashable, Sendable {
    /// What may be saved up, in milliseconds of the rate: a timer may be late by that much.
    public static let savedMillisecondsMaximum = 2.0

    private var saved = 0.0
    private var latestMilliseconds: Int64?

    /// Creates a pace with nothing saved up.
    public init() {}

    /// Lets time pass.
    ///
    /// - Parameters:
    ///   - rate: how many pushes may go out in a millisecond.
    ///   - now: the wall clock, in milliseconds.
    /// - Returns: how many may go out now.
    public mutating func allowance(perMillisecond rate: Double, nowMilliseconds now: Int64) -> Int {
        // A clock that was set back saves nothing up, and neither does the first moment.
        let passed = max(0, now - (latestMilliseconds ?? now - 1))
        latestMilliseconds = now
        saved = min(saved + rate * Double(passed), max(1, rate * Self.savedMillisecondsMaximum))
        return max(0, Int(saved))
    }

    /// Pushes have gone out.
    public mutating func wentOut(_ count: Int) { saved -= Double(count) }
}
