/// Why a push service refuses a push: each reason with its name in scripts, faults and records.
///
/// A profile decides which status, headers and body a reason has; `ServiceAnswers` knows them.
enum WebPushRefusal: String, CaseIterable, Error {
    // The request.

    /// It is no POST.
    case methodNotAllowed = "METHOD_NOT_ALLOWED"
    /// Its host is not that of the origin.
    case misdirected = "MISDIRECTED"
    /// A header that the service looks at came more than once.
    case headerRepeated = "HEADER_REPEATED"
    /// There is no `TTL` (RFC 8030 §5.2).
    case ttlMissing = "TTL_MISSING"
    /// `TTL` is no number of seconds, or is negative.
    case ttlInvalid = "TTL_INVALID"
    /// `TTL` is 0, which the services of Apple and of Windows do not take.
    case ttlZero = "TTL_ZERO"
    /// `Urgency` is none of the four words (RFC 8030 §5.3).
    case urgencyInvalid = "URGENCY_INVALID"
    /// `Topic` is longer than 32 characters, or not base64url (RFC 8030 §5.4).
    case topicInvalid = "TOPIC_INVALID"
    /// `Content-Encoding` is not `aes128gcm` (RFC 8291 §4).
    case encodingInvalid = "ENCODING_INVALID"
    /// The body is longer than 4 096 bytes.
    case contentTooLarge = "CONTENT_TOO_LARGE"
    /// The body has no valid header, sender's key or single record (RFC 8188 §2, RFC 8291 §4).
    case contentInvalid = "CONTENT_INVALID"
    /// The body is not encrypted for the subscription, or its padding is wrong; a real service could not see this.
    case contentUnreadable = "CONTENT_UNREADABLE"
    /// The body is encrypted with the key that signs tokens (RFC 8292 §3.2 forbids it).
    case keyReused = "KEY_REUSED"

    // The sender.

    /// There is no VAPID token, and the subscription or the service needs one.
    case vapidMissing = "VAPID_MISSING"
    /// `Authorization` is not `vapid t=…, k=…` (RFC 8292 §3).
    case vapidMalformed = "VAPID_MALFORMED"
    /// The key in `k` is no point of P-256.
    case vapidKeyInvalid = "VAPID_KEY_INVALID"
    /// The token is no JSON Web Token with ES256, or its signature is wrong.
    case vapidTokenInvalid = "VAPID_TOKEN_INVALID"
    /// The claim `aud` is not the origin (RFC 8292 §2).
    case vapidAudience = "VAPID_AUDIENCE"
    /// The claim `exp` is past.
    case vapidExpired = "VAPID_EXPIRED"
    /// The claim `exp` is more than 24 hours ahead.
    case vapidExpiryTooFar = "VAPID_EXPIRY_TOO_FAR"
    /// The claim `sub` is missing or no address that can be reached; only Apple's service looks.
    case vapidSubject = "VAPID_SUBJECT"
    /// The subscription was made with another key (RFC 8292 §4).
    case vapidKeyMismatch = "VAPID_KEY_MISMATCH"
    /// FCM's 400 `UnauthorizedRegistration`.
    case unauthorizedRegistration = "UNAUTHORIZED_REGISTRATION"
    /// FCM's 401 `invalid push subscription endpoint`, which single subscriptions get for a day (zaru/webpush 89).
    case endpointUnauthorized = "ENDPOINT_UNAUTHORIZED"

    // The subscription.

    /// There was never such a subscription.
    case endpointUnknown = "ENDPOINT_UNKNOWN"
    /// The subscription has not been used for too long.
    case stale = "SUBSCRIPTION_STALE"
    /// The subscription was cancelled or has expired.
    case gone = "SUBSCRIPTION_GONE"
    /// The device takes less than the service (Autopush's bridges).
    case deviceLimit = "DEVICE_LIMIT"

    // The service.

    /// Too many pushes; 406 in the service of Windows.
    case throttled = "THROTTLED"
    /// 408 of a front end.
    case requestTimeout = "REQUEST_TIMEOUT"
    /// 500.
    case internalError = "INTERNAL_ERROR"
    /// 502; in Autopush that of a bridge.
    case badGateway = "BAD_GATEWAY"
    /// 503: try again later.
    case unavailable = "UNAVAILABLE"
    /// 503 of Autopush that may be repeated at once.
    case unavailableBriefly = "UNAVAILABLE_BRIEFLY"
    /// 307 to a path where visitors are counted.
    case redirect = "REDIRECT"

    /// The status by the RFCs alone.
    var plainStatus: Int {
        switch self {
        case .ttlMissing, .ttlInvalid, .ttlZero, .urgencyInvalid, .topicInvalid, .headerRepeated, .contentInvalid,
            .contentUnreadable, .keyReused, .unauthorizedRegistration:
            400
        case .vapidMissing, .endpointUnauthorized: 401
        case .vapidMalformed, .vapidKeyInvalid, .vapidTokenInvalid, .vapidAudience, .vapidExpired,
            .vapidExpiryTooFar, .vapidSubject, .vapidKeyMismatch:
            403
        case .endpointUnknown, .stale: 404
        case .methodNotAllowed: 405
        case .requestTimeout: 408
        case .gone: 410
        case .contentTooLarge, .deviceLimit: 413
        case .encodingInvalid: 415
        case .misdirected: 421
        case .throttled: 429
        case .internalError: 500
        case .badGateway: 502
        case .unavailable, .unavailableBriefly: 503
        case .redirect: 307
        }
    }
}
