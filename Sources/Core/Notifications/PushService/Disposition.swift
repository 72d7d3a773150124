/// The decision about a push after an attempt.
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
        /// A slow app has too many deliveries already; the push consumes no attempt.
        case congested
        /// The app's key is not accepted; no attempt is spent.
        case keyRejected = "key-rejected"
        /// Most tokens of the app and kind are called bad, so its configuration is in doubt; no attempt is spent.
        case suspectConfiguration = "tokens-in-doubt"
        /// An operator has paused the app.
        case paused

        /// Whether the wait counts against the attempts: it does not where the push itself is not to blame.
        public var consumesAttempt: Bool {
            switch self {
            case .throttled, .serverError, .providerTokenUpdates, .unanswered: true
            case .keyRejected, .suspectConfiguration, .unreachable, .congested, .paused: false
            }
        }

        /// Whether only the way to the push service or an operator is to blame, so that the wait does not count as age
        /// either.
        public var isOutage: Bool { self == .unreachable || self == .congested || self == .paused }
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

extension Disposition {
    /// Decides what becomes of a push: a total function of how the attempt ended.
    ///
    /// Source: Apple, "Handling notification responses from APNs". 400 `IdleTimeout` normally comes with GOAWAY and
    /// says nothing about the push, so the push is sent again. A status that Apple does not document is treated by its
    /// class: 5xx waits, everything else becomes a dead letter with the answer.
    public init(_ outcome: PushOutcome) {
        switch outcome {
        case .notProcessed: self = .resend
        case .ambiguous: self = .resendPossibleDuplicate
        case .answered(let answer): self.init(answer)
        }
    }

    private init(_ answer: PushAnswer) {
        switch answer.status {
        case 200: self = .accepted
        case 410: self = .tokenDead(sinceMilliseconds: answer.deadSinceMilliseconds)
        case 400: self = Self.badRequest(answer)
        case 403: self = Self.forbidden(answer)
        case 429: self = .retry(Self.isTokenUpdate(answer) ? .providerTokenUpdates : .throttled, answer)
        case 503 where answer.reason == "Shutdown": self = .resend
        case 500...599: self = .retry(.serverError, answer)
        default: self = .deadLetter(reason: Self.reason(of: answer))
        }
    }

    private static func badRequest(_ answer: PushAnswer) -> Disposition {
        switch answer.reason {
        case "BadDeviceToken", "DeviceTokenNotForTopic": .tokenRejected(reason: answer.reason)
        case "IdleTimeout": .resend
        default: .deadLetter(reason: reason(of: answer))
        }
    }

    private static func forbidden(_ answer: PushAnswer) -> Disposition {
        switch answer.reason {
        // The transport renews the token or replaces the connection; the push itself was not looked at.
        case "ExpiredProviderToken", "UnrelatedKeyIdInToken": .resend
        default: .keyRejected(reason: reason(of: answer))
        }
    }

    private static func retry(_ cause: RetryCause, _ answer: PushAnswer) -> Disposition {
        .retry(cause, afterSeconds: answer.retryAfterSeconds)
    }

    private static func isTokenUpdate(_ answer: PushAnswer) -> Bool { answer.reason == "TooManyProviderTokenUpdates" }

    private static func reason(of answer: PushAnswer) -> String {
        answer.reason.isEmpty ? "status-\(answer.status)" : answer.reason
    }
}
