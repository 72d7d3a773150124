public import Essentials

/// Decides when the token for one origin has to be replaced: a value that gets the time as an argument.
///
/// A token is valid for at most 24 hours after a request that has it (RFC 8292 section 2); ours has half of that. Apple
/// (Sending web push notifications in web apps and browsers): do not refresh a token more than once an hour.
///
/// `exp` comes from the wall clock, which can be set. So the age of a token is taken by both clocks, and
///
/// - a token is *due* when it is six hours old by either clock, or when the wall clock stands before its signature;
/// - a due token is *replaced* when an hour has really passed since it was signed;
/// - if a push service refuses it, an hour by either clock suffices. Then the jump of the wall clock was a correction,
///   and `exp` was wrong. A token that is younger stays: another one would be refused as well.
public struct VAPIDTokenSchedule: Hashable, Sendable {
    /// The action when a token is needed.
    public enum Decision: Hashable, Sendable {
        /// Use the token that is there.
        case keep
        /// Sign a new one, which begins another schedule.
        case sign
    }

    /// The time from the signature to `exp`, in seconds.
    public static let lifetimeSeconds: Int64 = 12 * 3_600
    /// From this age on a token is replaced at its next use, in seconds.
    public static let renewalAgeSeconds: Int64 = 6 * 3_600
    /// A token is never replaced before it has this age, in seconds.
    public static let replacementAgeSecondsMinimum: Int64 = 3_600

    /// When the token was signed, by both clocks.
    public let signedAt: Moment

    /// Begins the schedule of a token.
    ///
    /// - Parameter signedAt: both clocks.
    public init(signedAt: Moment) { self.signedAt = signedAt }

    /// The token's claim `exp`.
    public var expiresAt: WallTime { signedAt.wall.advanced(byMilliseconds: Self.lifetimeSeconds * 1_000) }

    /// A request needs a token.
    ///
    /// - Parameter now: both clocks.
    /// - Returns: whether the token that is there will do.
    public func tokenNeeded(at now: Moment) -> Decision {
        let isDue = max(elapsedSeconds(at: now), wallSeconds(at: now)) >= Self.renewalAgeSeconds
        guard isDue || now.wall < signedAt.wall else { return .keep }
        return elapsedSeconds(at: now) < Self.replacementAgeSecondsMinimum ? .keep : .sign
    }

    /// A push service refused the token that is there.
    ///
    /// - Parameter now: both clocks.
    /// - Returns: `keep` if another token would come too soon; then the key, the subject or the clock is wrong.
    public func tokenRefused(at now: Moment) -> Decision {
        let ageSeconds = max(elapsedSeconds(at: now), abs(wallSeconds(at: now)))
        return ageSeconds < Self.replacementAgeSecondsMinimum ? .keep : .sign
    }

    private func elapsedSeconds(at now: Moment) -> Int64 {
        now.monotonic.milliseconds(since: signedAt.monotonic) / 1_000
    }

    /// The seconds by the wall clock, below 0 if it was set back; both times are bounded, so this is as well.
    private func wallSeconds(at now: Moment) -> Int64 { (now.wall - signedAt.wall) / 1_000 }
}
