/// Decides when a provider token has to be minted: a pure state machine that gets the time as an argument.
///
/// Apple (Establishing a token-based connection to APNs): refresh the token "no more than once every 20 minutes and no
/// less than once every 60 minutes". APNs answers a token that is too old with 403 `ExpiredProviderToken`, and one that
/// changes too often with 429 `TooManyProviderTokenUpdates`, which can stay on a connection for an hour.
///
/// The age of a token counts from `iat`, which the wall clock wrote. But a wall clock can be set, by mistake or to
/// correct one, and the schedule cannot know which. So the age is taken by both clocks, and
///
/// - a token is *due* when it is 50 minutes old by either clock, or when its `iat` lies in the future because the wall
///   clock was set back since;
/// - a due token is *replaced* when 20 minutes have really passed since it was minted. Until then the old one stays in
///   use: APNs may well still take it, since it was APNs' time that the old clock agreed with;
/// - if APNs itself calls it expired, 20 minutes by either clock suffice: then the jump of the wall clock was a
///   correction, as on a machine that started with a clock in the past.
public struct ProviderTokenSchedule: Sendable {
    /// One reading of both clocks.
    public struct Moment: Hashable, Sendable {
        /// The wall clock, in seconds since 1970.
        public let wallSeconds: Int64
        /// The monotonic clock, in nanoseconds; best one that goes on while the machine is suspended.
        public let monotonicNanoseconds: UInt64

        /// Creates a reading.
        public init(wallSeconds: Int64, monotonicNanoseconds: UInt64) {
            self.wallSeconds = wallSeconds
            self.monotonicNanoseconds = monotonicNanoseconds
        }
    }

    /// The action when a token is needed.
    public enum Decision: Hashable, Sendable {
        /// Use the token that is there.
        case keep
        /// Sign a new one with this `iat`, then call `minted(at:)`.
        case mint(issuedAtSeconds: Int64)
    }

    /// From this age on a token is replaced at its next use, in seconds.
    public static let renewalAgeSeconds: Int64 = 50 * 60
    /// A token is never replaced before it has this age, in seconds.
    public static let replacementAgeSecondsMinimum: Int64 = 20 * 60

    private var mintedAt: Moment?

    /// A schedule that has no token yet.
    public init() {}

    /// Someone wants to use the token.
    ///
    /// - Parameter now: both clocks.
    /// - Returns: whether the token that is there will do.
    public func tokenNeeded(at now: Moment) -> Decision {
        guard let mintedAt else { return .mint(issuedAtSeconds: now.wallSeconds) }
        let isDue =
            Self.age(of: mintedAt, at: now) >= Self.renewalAgeSeconds || mintedAt.wallSeconds > now.wallSeconds
        guard isDue, Self.elapsedSeconds(since: mintedAt, at: now) >= Self.replacementAgeSecondsMinimum else {
            return .keep
        }
        return .mint(issuedAtSeconds: now.wallSeconds)
    }

    /// APNs answered `ExpiredProviderToken` to the token that is there: replaced, if the limit allows it.
    ///
    /// - Parameter now: both clocks.
    /// - Returns: whether to go on with it all the same.
    public func tokenExpired(at now: Moment) -> Decision {
        guard let mintedAt, Self.age(of: mintedAt, at: now) < Self.replacementAgeSecondsMinimum else {
            return .mint(issuedAtSeconds: now.wallSeconds)
        }
        return .keep
    }

    /// The token that `tokenNeeded` or `tokenExpired` asked for has been signed.
    ///
    /// - Parameter now: the reading that the decision was made with, so that the age counts from `iat`.
    public mutating func minted(at now: Moment) { mintedAt = now }

    /// The whole seconds that have passed, by the monotonic clock.
    private static func elapsedSeconds(since mintedAt: Moment, at now: Moment) -> Int64 {
        guard now.monotonicNanoseconds > mintedAt.monotonicNanoseconds else { return 0 }
        return Int64((now.monotonicNanoseconds - mintedAt.monotonicNanoseconds) / 1_000_000_000)
    }

    /// The age in whole seconds, by the clock that says more.
    private static func age(of mintedAt: Moment, at now: Moment) -> Int64 {
        let wall = now.wallSeconds.subtractingReportingOverflow(mintedAt.wallSeconds)
        return max(elapsedSeconds(since: mintedAt, at: now), wall.overflow ? 0 : wall.partialValue)
    }
}
