/// The decision about a push after an attempt.
public enum Disposition: Hashable, Sendable {
    /// Why a push goes to the retry ladder.
    public enum RetryCause: String, Hashable, Sendable {
        /// 429: too many pushes to this device.
        case throttled
        /// 500, or 503 other than `Shutdown`, of APNs, which asks for a long delay.
        case serverError = "server-error"
        /// 429 `TooManyProviderTokenUpdates`: the token is kept, the push tried later.
        case providerTokenUpdates = "provider-token-updates"
        /// Its answer was lost as often as one attempt allows.
        case unanswered
        /// It certainly was not processed, because the push service cannot be reached; no attempt is spent.
        case unreachable
        /// A slow app has too many deliveries already; the push consumes no attempt.
        case congested
        /// The address is a stranger's, and leads nowhere.
        case addressUnreachable = "address-unreachable"
        /// Strangers' hosts have all places that there are for such; no attempt is spent.
        case crowdedOut = "crowded-out"
        /// The app's credentials are refused for this address, and accepted for others.
        case addressRefused = "address-refused"
        /// The app's key is not accepted; no attempt is spent.
        case keyRejected = "key-rejected"
        /// Most tokens of the app and kind are called bad, so its configuration is in doubt; no attempt is spent.
        case suspectConfiguration = "tokens-in-doubt"
        /// An operator has paused the app.
        case paused
        /// 5xx of a service whose own delay counts, or a status that speaks of the way to it (`ofTransit`).
        case serviceUnavailable = "service-unavailable"
        /// The quota of the whole account is spent, for which no single push is to blame; no attempt is spent.
        case quotaExceeded = "quota-exceeded"

        /// Whether the wait counts against the attempts: it does not where the push itself is not to blame.
        public var consumesAttempt: Bool {
            switch self {
            case .throttled, .serverError, .serviceUnavailable, .providerTokenUpdates, .unanswered, .addressRefused,
                .addressUnreachable:
                true
            case .keyRejected, .suspectConfiguration, .quotaExceeded, .unreachable, .congested, .crowdedOut, .paused:
                false
            }
        }

        /// Whether the push service failed for now, apart from the app's key and tokens.
        public var blamesService: Bool {
            (consumesAttempt || self == .quotaExceeded) && self != .addressUnreachable && self != .addressRefused
        }

        /// Whether only the way to the push service or an operator is to blame, so that the wait does not count as age
        /// either.
        public var isOutage: Bool { self == .unreachable || self == .congested || self == .paused }
    }

    /// The push service has it.
    case accepted
    /// The token is dead since then (milliseconds since 1970; nil if the service did not say).
    case tokenDead(sinceMilliseconds: Int64?)
    /// The token is called bad: dead, unless too many tokens are called so.
    case tokenRejected(reason: String)
    /// The request itself is wrong and stays wrong.
    case deadLetter(reason: String)
    /// Send it again now: it was certainly not processed.
    case resend
    /// Send it again now, knowing that it may arrive twice.
    case resendPossibleDuplicate
    /// Wait on the retry ladder.
    case retry(RetryCause, afterSeconds: Int?)
    /// The credentials of the app are refused: for this address, its origin, its environment, or all of the app.
    case keyRejected(reason: String)

    /// Whether the push is to be sent again now.
    public var asksForResend: Bool {
        switch self {
        case .resend, .resendPossibleDuplicate: true
        case .accepted, .tokenDead, .tokenRejected, .deadLetter, .retry, .keyRejected: false
        }
    }
}

extension Disposition {
    /// Whether the reason of a refusal speaks of a whole environment: the key is for the other one.
    ///
    /// Source: Apple, "Handling notification responses from APNs" (`BadEnvironmentKeyIdInToken`).
    public static func isOfEnvironment(_ reason: String) -> Bool { reason == "BadEnvironmentKeyIdInToken" }

    /// Decides what becomes of a push: a total function of how the attempt ended.
    ///
    /// - Parameters:
    ///   - outcome: how the attempt ended.
    ///   - service: the push service, each of which means something else by its answers.
    public init(_ outcome: AttemptOutcome, of service: PushService) {
        switch outcome {
        case .notProcessed: self = .resend
        case .unreachable: self = .retry(.addressUnreachable, afterSeconds: nil)
        case .crowdedOut: self = .retry(.crowdedOut, afterSeconds: nil)
        case .ambiguous: self = .resendPossibleDuplicate
        case .answered(let answer): self = service.disposition(of: answer)
        }
    }

    /// The word of an answer for a dead letter.
    static func reason(of answer: PushAnswer) -> String {
        answer.reason.isEmpty ? "status-\(answer.status)" : answer.reason
    }
}

extension Disposition {
    /// Decides about a status that speaks of the way to a push service, and not of the push; nil for all others.
    ///
    /// No push service documents them. They come from a front end, a gateway or a proxy, or from the server before it
    /// looked at the request. The push waits on the ladder and spends an attempt, so a status that stays ends as a dead
    /// letter all the same.
    ///
    /// | status | says | source |
    /// |---|---|---|
    /// | 3xx | go elsewhere; a client of push services does not | RFC 9110 section 15.4 |
    /// | 407 | a proxy wants credentials | RFC 9110 section 15.5.8 |
    /// | 408 | the request did not arrive in time, and may be repeated | RFC 9110 section 15.5.9 |
    /// | 421 | the connection is not for this origin; another may be | RFC 9110 section 15.5.20 |
    /// | 425 | the request came too early, and may be repeated | RFC 8470 section 5.2 |
    /// | 499 | the request was cancelled on its way | google.rpc.Code `CANCELLED`; nginx |
    ///
    /// 5xx are not among them, because each service says itself when to repeat after those: 502 and 504 of a gateway
    /// wait as long as its own.
    ///
    /// - Parameters:
    ///   - answer: the answer.
    ///   - leastSeconds: the shortest wait after it.
    /// - Returns: the decision; nil if the status is none of them.
    static func ofTransit(_ answer: PushAnswer, leastSeconds: Int = 0) -> Disposition? {
        switch answer.status {
        case 300...399, 407, 408, 421, 425, 499:
            let seconds = max(leastSeconds, answer.retryAfterSeconds ?? 0)
            return .retry(.serviceUnavailable, afterSeconds: seconds == 0 ? nil : seconds)
        default: return nil
        }
    }
}

extension PushService {
    /// Decides what becomes of a push with an answer of this service.
    func disposition(of answer: PushAnswer) -> Disposition {
        switch self {
        case .apns, .courier: Disposition(ofAPNs: answer)
        case .fcm: Disposition(ofFCM: answer)
        case .adm: Disposition(ofADM: answer)
        case .webPush: Disposition(ofWebPush: answer)
        }
    }

    /// The documented words by which the service refuses pushes, or the words that Apus gives to such answers.
    public var documentedReasons: [String] {
        switch self {
        case .apns: APNsReason.all
        case .fcm: FCMReason.all
        case .adm: ADMReason.all
        case .webPush: APNsReason.ofBrowsers + WebPushReason.all
        case .courier: []
        }
    }
}
