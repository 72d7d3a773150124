/// The reasons of Amazon Device Messaging.
///
/// Source: Amazon, "Send a message" (ADM), its table of errors; the words are the same in the clients of ADM that were
/// read (pigeon, adm-erlang, rpush, uniqush-push).
public enum ADMReason {
    /// The app was uninstalled, or it unregistered.
    public static let unregistered = "Unregistered"
    /// The registration ID is not one.
    public static let invalidRegistrationID = "InvalidRegistrationId"
    /// Too many messages, to one device or of the whole account.
    public static let rateExceeded = "MaxRateExceeded"
    /// The access token is no longer valid.
    public static let accessTokenExpired = "AccessTokenExpired"
    /// `data` is no object of texts.
    public static let invalidData = "InvalidData"
    /// `consolidationKey` is too long.
    public static let invalidConsolidationKey = "InvalidConsolidationKey"
    /// `expiresAfter` is out of range.
    public static let invalidExpiration = "InvalidExpiration"
    /// `md5` is not that of the data.
    public static let invalidChecksum = "InvalidChecksum"
    /// The header `x-amzn-type-version` names no type that ADM knows.
    public static let invalidType = "InvalidType"
    /// The data is larger than 6 KB.
    public static let messageTooLarge = "MessageTooLarge"

    /// All of them.
    public static let all = [
        unregistered, invalidRegistrationID, rateExceeded, accessTokenExpired, invalidData, invalidConsolidationKey,
        invalidExpiration, invalidChecksum, invalidType, messageTooLarge,
    ]
}

extension Disposition {
    /// The wait after a 429 that names none, in seconds; Amazon leaves it to the sender.
    static let admThrottledSeconds = 60

    /// Decides about an answer of ADM.
    ///
    /// Source: Amazon, "Send a message" (ADM). 500 and 503 come with `Retry-After`, which counts.
    init(ofADM answer: PushAnswer) {
        switch (answer.status, answer.reason) {
        case (200, _): self = .accepted
        case (400, ADMReason.unregistered): self = .tokenDead(sinceMilliseconds: nil)
        case (400, ADMReason.invalidRegistrationID): self = .tokenRejected(reason: answer.reason)
        case (401, _), (403, _): self = .keyRejected(reason: Self.reason(of: answer))
        case (429, _): self = .retry(.throttled, afterSeconds: answer.retryAfterSeconds ?? Self.admThrottledSeconds)
        case (500...599, _): self = .retry(.serviceUnavailable, afterSeconds: answer.retryAfterSeconds)
        default: self = Self.ofTransit(answer) ?? .deadLetter(reason: Self.reason(of: answer))
        }
    }
}
