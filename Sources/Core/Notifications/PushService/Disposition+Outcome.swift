extension Disposition {
    /// Decides what becomes of a push: a total function of how the attempt ended.
    ///
    /// Source: Apple, "Handling notification responses from APNs". 400 `IdleTimeout` normally comes with GOAWAY and
    /// says nothing about the push, so the push is sent again. A status that Apple does not document is treated by its
    /// class: 5xx waits, everything else is a dead letter with what was answered.
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
