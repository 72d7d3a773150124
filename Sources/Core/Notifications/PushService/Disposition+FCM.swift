/// The reasons by which an adapter of FCM names what an answer says, beside FCM's own error codes.
///
/// Source of the codes: Google, "ErrorCode" of the REST reference of FCM v1.
public enum FCMReason {
    /// `FcmError`: the registration is gone.
    public static let unregistered = "UNREGISTERED"
    /// `FcmError`: the registration belongs to another sender.
    public static let senderMismatch = "SENDER_ID_MISMATCH"
    /// `FcmError`: the request is wrong; if the token is what is wrong with it, the reason is `invalidToken`.
    public static let invalidArgument = "INVALID_ARGUMENT"
    /// `INVALID_ARGUMENT` about the registration token.
    public static let invalidToken = "INVALID_TOKEN"
    /// `FcmError`: APNs or a browser's push service refused the credentials that the Firebase project has for it.
    public static let thirdPartyAuthentication = "THIRD_PARTY_AUTH_ERROR"
    /// `FcmError`: a rate is exceeded; if it is that of one device, the reason is `deviceQuotaExceeded`.
    public static let quotaExceeded = "QUOTA_EXCEEDED"
    /// `QUOTA_EXCEEDED` of one device.
    public static let deviceQuotaExceeded = "DEVICE_QUOTA_EXCEEDED"
    /// The path names a project that Google does not know, or that this account does not reach.
    public static let projectUnknown = "PROJECT_UNKNOWN"

    /// All of them, and the words of Google's front end: the codes of `google.rpc.Code` and the reasons of AIP-193 that
    /// were seen.
    public static let all = [
        unregistered, senderMismatch, invalidArgument, invalidToken, thirdPartyAuthentication, quotaExceeded,
        deviceQuotaExceeded, projectUnknown, "UNSPECIFIED_ERROR", "UNAVAILABLE", "INTERNAL", "NOT_FOUND",
        "PERMISSION_DENIED", "UNAUTHENTICATED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "OUT_OF_RANGE", "ABORTED",
        "ALREADY_EXISTS", "CANCELLED", "DEADLINE_EXCEEDED", "DATA_LOSS", "UNIMPLEMENTED", "UNKNOWN",
        "SERVICE_DISABLED", "ACCESS_TOKEN_EXPIRED", "IAM_PERMISSION_DENIED", "RATE_LIMIT_EXCEEDED",
    ]
}

extension Disposition {
    /// The shortest wait after a 5xx, in seconds (Google, "Scale your FCM sending").
    static let fcmServerErrorSeconds = 10
    /// The wait after a 429 that names none, in seconds (Google, "Scale your FCM sending").
    static let fcmThrottledSeconds = 60

    /// Decides about an answer of FCM.
    ///
    /// A token dies only by FCM's own error code: a bare 404 or 403 speaks of the path, the project or the account, and
    /// a wrong project in the configuration would otherwise empty the registry.
    ///
    /// 409 is google.rpc's `ABORTED`, after which a request may be repeated; 499 is its `CANCELLED`
    /// (google/rpc/code.proto).
    ///
    /// Source: Google, "ErrorCode" and "Scale your FCM sending".
    init(ofFCM answer: PushAnswer) {
        switch (answer.status, answer.reason) {
        case (200, _): self = .accepted
        case (404, FCMReason.unregistered): self = .tokenDead(sinceMilliseconds: nil)
        case (400, FCMReason.invalidToken), (403, FCMReason.senderMismatch):
            self = .tokenRejected(reason: answer.reason)
        case (400, FCMReason.projectUnknown): self = .keyRejected(reason: answer.reason)
        case (401, FCMReason.thirdPartyAuthentication):
            self = .retry(.suspectConfiguration, afterSeconds: answer.retryAfterSeconds)
        case (401, _), (403, _), (404, _): self = .keyRejected(reason: Self.reason(of: answer))
        case (429, let reason):
            self = .retry(
                reason == FCMReason.deviceQuotaExceeded ? .throttled : .quotaExceeded,
                afterSeconds: answer.retryAfterSeconds ?? Self.fcmThrottledSeconds)
        case (409, _), (500...599, _):
            self = .retry(
                .serviceUnavailable, afterSeconds: max(Self.fcmServerErrorSeconds, answer.retryAfterSeconds ?? 0))
        default:
            self =
                Self.ofTransit(answer, leastSeconds: Self.fcmServerErrorSeconds)
                ?? .deadLetter(reason: Self.reason(of: answer))
        }
    }
}
