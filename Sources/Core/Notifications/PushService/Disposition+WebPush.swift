/// The reasons by which an adapter of Web Push names what an answer says.
///
/// The services word their answers in texts of their own, which the adapter reads.
public enum WebPushReason {
    /// The subscription was made with another VAPID key.
    public static let otherKey = "VAPID_KEY_MISMATCH"
    /// The service does not accept the VAPID token.
    public static let tokenRefused = "VAPID_TOKEN_REFUSED"
    /// The subscription is gone, but it was registered only just now.
    public static let goneSoon = "GONE_TOO_SOON"

    /// The numbers by which Mozilla's service tells faults apart (autopush-rs, `autoendpoint/src/error.rs`).
    public static let mozillaNumbers: Set<Int64> = [
        102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 201, 202, 901, 902, 903, 904, 905, 999,
    ]

    /// The word for a number of Mozilla's service.
    public static func word(ofMozillaNumber number: Int64) -> String { "errno-\(number)" }

    /// All of these words.
    static let all = [otherKey, tokenRefused, goneSoon] + mozillaNumbers.map { word(ofMozillaNumber: $0) }
}

extension Disposition {
    /// The wait after a 429, or a 406 of Windows' service, that names none, in seconds.
    static let webPushThrottledSeconds = 60

    /// Decides about an answer of a browser's push service.
    ///
    /// A redirect stays one for this push: it is never followed, because it may lead inside the operator's network.
    ///
    /// Sources: RFC 8030 §5, §7.2, §7.3; RFC 8292 §4. Windows' service answers 406 where others answer 429.
    init(ofWebPush answer: PushAnswer) {
        switch (answer.status, answer.reason) {
        case (200...204, _): self = .accepted
        case (404, WebPushReason.goneSoon), (410, WebPushReason.goneSoon):
            self = .retry(.serviceUnavailable, afterSeconds: Self.webPushThrottledSeconds)
        case (404, _), (410, _): self = .tokenDead(sinceMilliseconds: nil)
        case (400, WebPushReason.otherKey), (401, WebPushReason.otherKey), (403, WebPushReason.otherKey):
            self = .tokenRejected(reason: answer.reason)
        case (400, WebPushReason.tokenRefused), (401, _), (403, _): self = .keyRejected(reason: Self.reason(of: answer))
        case (406, _), (429, _):
            self = .retry(.throttled, afterSeconds: answer.retryAfterSeconds ?? Self.webPushThrottledSeconds)
        case (500...599, _): self = .retry(.serviceUnavailable, afterSeconds: answer.retryAfterSeconds)
        case (300...399, _): self = .deadLetter(reason: Self.reason(of: answer))
        default: self = Self.ofTransit(answer) ?? .deadLetter(reason: Self.reason(of: answer))
        }
    }
}
