/// What becomes of a push after an attempt.
public enum Disposition: Hashable, Sendable {
    /// Why a push goes to the retry ladder.
    public enum RetryCause: String, Hashable, Sendable {
        /// 429 `TooManyRequests`: too many pushes to this device.
        case throttled
        /// 500, or 503 other than `Shutdown`.
        case serverError = "server-error"
        /// 429 `TooManyProviderTokenUpdates`: the token is kept, the push tried later.
        case providerTokenUpdates = "provider-token-updates"
        /// Its answer was lost as often as one attempt allows.
        case unanswered
        /// It certainly was not processed, because the push service cannot be reached; no attempt is spent.
        case unreachable
        /// Too much of a slow app is in hand already; no attempt is spent.
        case congested
        /// The app's key is not accepted; no attempt is spent.
        case keyRejected = "key-rejected"
        /// Most tokens of the app and kind are called bad, so its configuration is in doubt; no attempt is spent.
        case tokensInDoubt = "tokens-in-doubt"

        /// Whether the wait counts against the attempts: it does not where the push itself is not to blame.
        public var spendsAttempt: Bool {
            switch self {
            case .throttled, .serverError, .providerTokenUpdates, .unanswered: true
            case .keyRejected, .tokensInDoubt, .unreachable, .congested: false
            }
        }

        /// Whether nobody but the way to the push service is to blame, so that the wait does not count as age either.
        public var isOutage: Bool { self == .unreachable || self == .congested }
    }

    /// APNs has it.
    case accepted
    /// 410: the token is dead since then (milliseconds since 1970; nil if APNs did not say).
    case tokenDead(sinceMilliseconds: Int64?)
    /// 400 `BadDeviceToken` or `DeviceTokenNotForTopic`: dead, unless too many tokens are called so.
    case tokenRejected(reason: String)
    /// The request itself is wrong and stays wrong.
    case deadLetter(reason: String)
    /// Send it again now: it was certainly not processed.
    case resend
    /// Send it again now, knowing that it may arrive twice.
    case resendPossibleDuplicate
    /// Wait on the retry ladder.
    case retry(RetryCause, afterSeconds: Int?)
    /// The key of the app is not accepted: nothing of this app can be sent before an operator acts.
    case keyRejected(reason: String)
}
