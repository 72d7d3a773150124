import PushServiceSimulator

/// The answers of a push service as they were seen.
///
/// Sources: Autopush's `autoendpoint/src/error.rs` (mozilla-services/autopush-rs); Apple, "Sending web push
/// notifications in web apps and browsers"; for FCM and the service of Windows the issues of sender libraries: 89 of
/// zaru/webpush, 162 of pywebpush, 66 of webpush-go, 93 of web-push-csharp, 677 of web-push. Nobody has published all
/// texts of FCM and Windows; those about `TTL`, `Urgency`, `Topic` and encodings are ours.
struct ServiceAnswers: Sendable {
    /// The service that gives the answers.
    let profile: ServiceProfile

    /// The answer to a message that was taken (RFC 8030 §5).
    func acceptance(of message: AcceptedMessage) -> ServiceAnswer {
        var answer = ServiceAnswer(status: 201)
        let location = AnswerHeader("location", "\(message.origin)/m/\(message.id)")
        switch profile {
        case .plain: answer.headers = [location, AnswerHeader("ttl", String(message.ttlSeconds))]
        case .fcm: answer.headers = [location]
        case .mozilla:
            answer.headers = [location, AnswerHeader("ttl", String(message.ttlSeconds))]
            answer.contentType = "text/html"
        case .apple: answer.headers = [AnswerHeader("apns-id", message.id)]
        case .wns: answer.headers = Self.windowsHeaders(status: "received", id: message.id)
        }
        return answer
    }

    /// The answer to a push that is refused.
    ///
    /// - Parameters:
    ///   - refusal: why.
    ///   - status: another status than the usual one.
    ///   - location: where a redirect leads.
    /// - Returns: the answer.
    func answer(to refusal: WebPushRefusal, status: Int? = nil, location: String = "/trap") -> ServiceAnswer {
        var answer =
            switch profile {
            case .plain: Self.text(refusal, refusal.plainStatus, Self.sentence(refusal))
            case .fcm: Self.fcm(refusal)
            case .mozilla: Self.mozilla(refusal, status: status)
            case .apple: Self.apple(refusal)
            case .wns: Self.windows(refusal)
            }
        if refusal == .redirect {
            answer = ServiceAnswer(status: 307, reason: refusal.rawValue)
            answer.headers = [AnswerHeader("location", location)]
        }
        if refusal == .vapidMissing { answer.headers.append(AnswerHeader("www-authenticate", "vapid")) }
        if let status { answer.status = status }
        return answer
    }

    private static func text(_ refusal: WebPushRefusal, _ status: Int, _ text: String) -> ServiceAnswer {
        ServiceAnswer(
            status: status, reason: refusal.rawValue, body: Array((text + "\n").utf8),
            contentType: "text/plain; charset=utf-8")
    }

    private static func json(_ refusal: WebPushRefusal, _ status: Int, _ body: String) -> ServiceAnswer {
        ServiceAnswer(
            status: status, reason: refusal.rawValue, body: Array(body.utf8), contentType: "application/json")
    }

    /// The reason in words: `TTL_MISSING` is "ttl missing".
    private static func sentence(_ refusal: WebPushRefusal) -> String {
        refusal.rawValue.lowercased().replacing("_", with: " ")
    }

    // MARK: FCM

    private static func fcm(_ refusal: WebPushRefusal) -> ServiceAnswer {
        switch refusal {
        case .vapidMissing: text(refusal, 401, "authorization header must be specified.")
        case .endpointUnauthorized: text(refusal, 401, "invalid push subscription endpoint")
        case .unauthorizedRegistration: text(refusal, 400, "UnauthorizedRegistration")
        case .vapidKeyMismatch:
            text(
                refusal, 403,
                "the VAPID credentials in the authorization header do not correspond to the credentials used to create "
                    + "the subscriptions.")
        case .vapidMalformed, .vapidKeyInvalid, .vapidTokenInvalid, .vapidAudience, .vapidExpired,
            .vapidExpiryTooFar, .vapidSubject:
            text(refusal, 403, "permission denied: invalid JWT provided")
        case .endpointUnknown, .stale:
            text(
                refusal, 404,
                "A valid push subscription endpoint should be specified in the URL as such: "
                    + "https://fcm.googleapis.com/wp/dHIoDxE7Hdg:APA91bH1Zj0kNa...")
        case .gone: text(refusal, 410, "push subscription has unsubscribed or expired.")
        case .contentTooLarge, .deviceLimit:
            text(refusal, 400, "binary data passed in the request must be less than 4096 bytes")
        case .encodingInvalid: text(refusal, 400, sentence(refusal))
        default: text(refusal, refusal.plainStatus, sentence(refusal))
        }
    }

    // MARK: Autopush

    /// The words that belong to a status (RFC 9110 §15).
    private static let phrases = [
        400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
        408: "Request Timeout", 410: "Gone", 413: "Payload Too Large", 421: "Misdirected Request",
        429: "Too Many Requests", 500: "Internal Server Error", 502: "Bad Gateway", 503: "Service Unavailable",
    ]

    private static func mozilla(_ refusal: WebPushRefusal, status forced: Int?) -> ServiceAnswer {
        let (usual, number, message): (Int, Int?, String) =
            switch refusal {
            case .vapidMissing, .vapidMalformed, .vapidKeyInvalid, .vapidTokenInvalid, .vapidAudience,
                .vapidExpired, .vapidExpiryTooFar, .vapidSubject, .vapidKeyMismatch:
                (401, 109, "Invalid VAPID: " + sentence(refusal))
            case .endpointUnknown, .stale: (404, 102, "Invalid token")
            case .gone: (410, 103, "UAID not found")
            case .contentTooLarge, .deviceLimit: (413, 104, "Data payload too large")
            case .encodingInvalid, .contentInvalid, .contentUnreadable, .keyReused: (400, 110, sentence(refusal))
            case .ttlMissing: (400, 111, "Missing TTL value")
            case .topicInvalid: (400, 113, "Topic must be no greater than 32 characters of base64url")
            case .ttlInvalid, .ttlZero: (400, 114, "TTL must be 0 or greater")
            case .badGateway: (502, 902, "Bridge connection failed")
            case .unavailable: (503, 201, "Use exponential back-off for retries")
            case .unavailableBriefly: (503, 202, "Immediate retry OK")
            default: (refusal.plainStatus, nil, sentence(refusal))
            }
        let status = forced ?? usual
        let body = """
            {"code":\(status),"errno":\(number.map { String($0) } ?? "null"),"error":"\(phrases[status] ?? "Error")",\
            "message":"\(message)","more_info":"http://autopush.readthedocs.io/en/latest/http.html#error-codes"}
            """
        var answer = Self.json(refusal, status, body)
        if status == 410 { answer.headers.append(AnswerHeader("cache-control", "max-age=86400")) }
        if status == 503 { answer.retryAfter = "120" }
        return answer
    }

    // MARK: Apple

    private static func apple(_ refusal: WebPushRefusal) -> ServiceAnswer {
        let (status, reason): (Int, String) =
            switch refusal {
            case .methodNotAllowed: (405, "MethodNotAllowed")
            case .vapidMissing, .vapidMalformed: (400, "BadAuthorizationHeader")
            case .vapidKeyInvalid: (400, "BadVapidPublicKey")
            case .vapidTokenInvalid, .vapidAudience, .vapidExpired, .vapidExpiryTooFar, .vapidSubject:
                (403, "BadJwtToken")
            case .vapidKeyMismatch, .unauthorizedRegistration: (400, "VapidPkHashMismatch")
            case .ttlMissing, .ttlInvalid, .ttlZero: (400, "BadTtl")
            case .urgencyInvalid: (400, "BadUrgency")
            case .topicInvalid: (400, "BadWebPushTopic")
            case .encodingInvalid, .contentInvalid, .contentUnreadable, .keyReused, .headerRepeated:
                (400, "BadWebPushRequest")
            case .endpointUnknown, .stale: (404, "BadPath")
            case .gone: (410, "Unregistered")
            case .contentTooLarge, .deviceLimit: (413, "PayloadTooLarge")
            case .throttled: (429, "TooManyRequests")
            case .requestTimeout: (400, "IdleTimeout")
            case .internalError, .badGateway: (500, "InternalServerError")
            case .unavailable: (503, "ServiceUnavailable")
            case .unavailableBriefly: (503, "Shutdown")
            default: (refusal.plainStatus, "BadWebPushRequest")
            }
        return json(refusal, status, #"{"reason":"\#(reason)"}"#)
    }

    // MARK: Windows

    private static func windows(_ refusal: WebPushRefusal) -> ServiceAnswer {
        let (status, word, description): (Int, String, String) =
            switch refusal {
            case .vapidKeyMismatch, .unauthorizedRegistration:
                (401, "dropped", "The public key in the request does not match the channel Url")
            case .vapidMissing, .vapidMalformed, .vapidKeyInvalid, .vapidTokenInvalid, .vapidAudience,
                .vapidExpired, .vapidExpiryTooFar, .vapidSubject, .endpointUnauthorized:
                (401, "dropped", "JWT Authentication Failed")
            case .ttlZero: (400, "dropped", "Ttl value conflicts with X-WNS-Cache-Policy")
            case .endpointUnknown, .stale: (404, "dropped", "The channel Url is not valid")
            case .gone: (410, "dropped", "The channel expired")
            case .throttled: (406, "channelthrottled", "The cloud service exceeded its throttle limit")
            case .encodingInvalid: (400, "dropped", sentence(refusal))
            default: (refusal.plainStatus, "dropped", sentence(refusal))
            }
        var answer = ServiceAnswer(status: status, reason: refusal.rawValue)
        answer.headers = windowsHeaders(status: word, id: "0")
        answer.headers.append(AnswerHeader("x-wns-error-description", description))
        return answer
    }

    private static func windowsHeaders(status: String, id: String) -> [AnswerHeader] {
        [
            AnswerHeader("x-wns-status", status), AnswerHeader("x-wns-notificationstatus", status),
            AnswerHeader("x-wns-msg-id", id), AnswerHeader("x-wns-debug-trace", "APUS-SIMULATOR-1"),
        ]
    }
}

/// A message that was taken.
struct AcceptedMessage {
    /// The name of its resource.
    var id: String
    /// How long it is kept, in seconds, after the service has shortened the time.
    var ttlSeconds: Int64
    /// The origin that took it, for example `https://localhost:8443`.
    var origin: String
}
