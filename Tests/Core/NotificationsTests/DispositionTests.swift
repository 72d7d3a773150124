import Notifications
import Testing

@Suite("What becomes of a push after an attempt: APNs")
struct DispositionTests {
    @Test(
        "Every answer that Apple documents has its disposition",
        arguments: [
            (200, "", Disposition.accepted),
            (400, "BadCollapseId", .deadLetter(reason: "BadCollapseId")),
            (400, "BadDeviceToken", .tokenRejected(reason: "BadDeviceToken")),
            (400, "BadExpirationDate", .deadLetter(reason: "BadExpirationDate")),
            (400, "BadMessageId", .deadLetter(reason: "BadMessageId")),
            (400, "BadPriority", .deadLetter(reason: "BadPriority")),
            (400, "BadTopic", .deadLetter(reason: "BadTopic")),
            (400, "DeviceTokenNotForTopic", .tokenRejected(reason: "DeviceTokenNotForTopic")),
            (400, "DuplicateHeaders", .deadLetter(reason: "DuplicateHeaders")),
            (400, "IdleTimeout", .resend),
            (400, "InvalidPushType", .deadLetter(reason: "InvalidPushType")),
            (400, "MissingDeviceToken", .deadLetter(reason: "MissingDeviceToken")),
            (400, "MissingTopic", .deadLetter(reason: "MissingTopic")),
            (400, "PayloadEmpty", .deadLetter(reason: "PayloadEmpty")),
            (400, "TopicDisallowed", .deadLetter(reason: "TopicDisallowed")),
            (403, "BadCertificate", .keyRejected(reason: "BadCertificate")),
            (403, "BadCertificateEnvironment", .keyRejected(reason: "BadCertificateEnvironment")),
            (403, "ExpiredProviderToken", .resend),
            (403, "Forbidden", .keyRejected(reason: "Forbidden")),
            (403, "InvalidProviderToken", .keyRejected(reason: "InvalidProviderToken")),
            (403, "MissingProviderToken", .keyRejected(reason: "MissingProviderToken")),
            (403, "UnrelatedKeyIdInToken", .resend),
            (403, "BadEnvironmentKeyIdInToken", .keyRejected(reason: "BadEnvironmentKeyIdInToken")),
            (404, "BadPath", .deadLetter(reason: "BadPath")),
            (405, "MethodNotAllowed", .deadLetter(reason: "MethodNotAllowed")),
            (410, "ExpiredToken", .tokenDead(sinceMilliseconds: nil)),
            (410, "Unregistered", .tokenDead(sinceMilliseconds: nil)),
            (413, "PayloadTooLarge", .deadLetter(reason: "PayloadTooLarge")),
            (429, "TooManyProviderTokenUpdates", .retry(.providerTokenUpdates, afterSeconds: nil)),
            (429, "TooManyRequests", .retry(.throttled, afterSeconds: nil)),
            (500, "InternalServerError", .retry(.serverError, afterSeconds: nil)),
            (503, "ServiceUnavailable", .retry(.serverError, afterSeconds: nil)),
            (503, "Shutdown", .resend),
        ])
    func documentedAnswers(status: Int, reason: String, expected: Disposition) {
        #expect(Disposition(.answered(PushAnswer(status: status, reason: reason)), of: .apns) == expected)
    }

    @Test("Every status, even an impossible one, has a disposition")
    func totality() {
        for status in -1...1_000 {
            let disposition = Disposition(.answered(PushAnswer(status: status)), of: .apns)
            switch status {
            case 200: #expect(disposition == .accepted)
            case 410: #expect(disposition == .tokenDead(sinceMilliseconds: nil))
            case 403: #expect(disposition == .keyRejected(reason: "status-403"))
            case 429: #expect(disposition == .retry(.throttled, afterSeconds: nil))
            case 500...599: #expect(disposition == .retry(.serverError, afterSeconds: nil))
            case 300...399, 407, 408, 421, 425, 499:
                #expect(disposition == .retry(.serviceUnavailable, afterSeconds: nil))
            default: #expect(disposition == .deadLetter(reason: "status-\(status)"))
            }
        }
    }

    @Test("An attempt that was not processed and one whose answer was lost are told apart")
    func unanswered() {
        for service in PushService.allCases {
            #expect(Disposition(.notProcessed("refused"), of: service) == .resend)
            #expect(
                Disposition(.unreachable("nobody"), of: service) == .retry(.addressUnreachable, afterSeconds: nil))
            #expect(Disposition(.crowdedOut("full"), of: service) == .retry(.crowdedOut, afterSeconds: nil))
            #expect(Disposition(.ambiguous("deadline"), of: service) == .resendPossibleDuplicate)
        }
    }

    @Test("The wait that an answer asks for and the time of a token's death are kept")
    func details() {
        let throttled = PushAnswer(status: 429, reason: "TooManyRequests", retryAfterSeconds: 7)
        #expect(Disposition(.answered(throttled), of: .apns) == .retry(.throttled, afterSeconds: 7))
        let dead = PushAnswer(status: 410, reason: "Unregistered", deadSinceMilliseconds: 12)
        #expect(Disposition(.answered(dead), of: .apns) == .tokenDead(sinceMilliseconds: 12))
    }
}
