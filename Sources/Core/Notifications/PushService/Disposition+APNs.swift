/// The reasons of Apple's services.
public enum APNsReason {
    /// The reasons of APNs (Apple, "Handling notification responses from APNs").
    public static let all = [
        "BadDeviceToken", "Unregistered", "TooManyRequests", "ExpiredProviderToken", "InvalidProviderToken",
        "MissingProviderToken", "ExpiredToken", "DeviceTokenNotForTopic", "BadTopic", "TopicDisallowed",
        "MissingTopic", "PayloadTooLarge", "PayloadEmpty", "BadCollapseId", "BadExpirationDate", "BadMessageId",
        "BadPriority", "DuplicateHeaders", "IdleTimeout", "InvalidPushType", "MissingDeviceToken", "BadCertificate",
        "BadCertificateEnvironment", "Forbidden", "UnrelatedKeyIdInToken", "BadEnvironmentKeyIdInToken", "BadPath",
        "MethodNotAllowed", "TooManyProviderTokenUpdates", "InternalServerError", "ServiceUnavailable", "Shutdown",
    ]

    /// The further reasons of Apple's push service for browsers (Apple, "Sending web push notifications in web apps and
    /// browsers").
    public static let ofBrowsers = [
        "BadAuthorizationHeader", "BadJwtToken", "BadTtl", "BadUrgency", "BadVapidPublicKey", "BadWebPushRequest",
        "BadWebPushTopic", "VapidPkHashMismatch",
    ]
}

extension Disposition {
    /// Decides about an answer of APNs.
    ///
    /// Source: Apple, "Handling notification responses from APNs". 400 `IdleTimeout` normally comes with GOAWAY and
    /// says nothing about the push, so the push is sent again. Apple asks for 15 minutes before a push is repeated
    /// after any 5xx, also one that it does not document. A further status that speaks of the way to APNs waits, too
    /// (`ofTransit`); everything else becomes a dead letter with the answer.
    init(ofAPNs answer: PushAnswer) {
        switch answer.status {
        case 200: self = .accepted
        case 410: self = .tokenDead(sinceMilliseconds: answer.deadSinceMilliseconds)
        case 400: self = Self.badRequest(answer)
        case 403: self = Self.forbidden(answer)
        case 429: self = .retry(Self.isTokenUpdate(answer) ? .providerTokenUpdates : .throttled, answer)
        case 503 where answer.reason == "Shutdown": self = .resend
        case 500...599: self = .retry(.serverError, answer)
        default: self = Self.ofTransit(answer) ?? .deadLetter(reason: Self.reason(of: answer))
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
}
