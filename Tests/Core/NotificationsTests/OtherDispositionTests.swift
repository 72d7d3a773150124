import Notifications
import Testing

@Suite("What becomes of a push after an attempt: FCM, ADM, Web Push")
struct OtherDispositionTests {
    @Test(
        "Every answer of FCM has its disposition, and a token dies only by FCM's own code",
        arguments: [
            (200, "", nil, Disposition.accepted),
            (404, FCMReason.unregistered, nil, .tokenDead(sinceMilliseconds: nil)),
            (400, FCMReason.invalidToken, nil, .tokenRejected(reason: "INVALID_TOKEN")),
            (403, FCMReason.senderMismatch, nil, .tokenRejected(reason: "SENDER_ID_MISMATCH")),
            (400, FCMReason.invalidArgument, nil, .deadLetter(reason: "INVALID_ARGUMENT")),
            (400, FCMReason.projectUnknown, nil, .keyRejected(reason: "PROJECT_UNKNOWN")),
            (404, "", nil, .keyRejected(reason: "status-404")),
            (404, "NOT_FOUND", nil, .keyRejected(reason: "NOT_FOUND")),
            (403, "", nil, .keyRejected(reason: "status-403")),
            (403, "PERMISSION_DENIED", nil, .keyRejected(reason: "PERMISSION_DENIED")),
            (401, "UNAUTHENTICATED", nil, .keyRejected(reason: "UNAUTHENTICATED")),
            (401, FCMReason.thirdPartyAuthentication, nil, .retry(.suspectConfiguration, afterSeconds: nil)),
            (429, FCMReason.quotaExceeded, nil, .retry(.quotaExceeded, afterSeconds: 60)),
            (429, FCMReason.quotaExceeded, 90, .retry(.quotaExceeded, afterSeconds: 90)),
            (429, FCMReason.deviceQuotaExceeded, nil, .retry(.throttled, afterSeconds: 60)),
            (500, "INTERNAL", nil, .retry(.serviceUnavailable, afterSeconds: 10)),
            (503, "UNAVAILABLE", 3, .retry(.serviceUnavailable, afterSeconds: 10)),
            (503, "UNAVAILABLE", 30, .retry(.serviceUnavailable, afterSeconds: 30)),
            (408, "", nil, .retry(.serviceUnavailable, afterSeconds: 10)),
            (409, "ABORTED", nil, .retry(.serviceUnavailable, afterSeconds: 10)),
            (499, "CANCELLED", 30, .retry(.serviceUnavailable, afterSeconds: 30)),
            (302, "", nil, .retry(.serviceUnavailable, afterSeconds: 10)),
            (405, "", nil, .deadLetter(reason: "status-405")),
        ] as [(Int, String, Int?, Disposition)])
    func fcm(status: Int, reason: String, retryAfterSeconds: Int?, expected: Disposition) {
        let answer = PushAnswer(status: status, reason: reason, retryAfterSeconds: retryAfterSeconds)
        #expect(Disposition(.answered(answer), of: .fcm) == expected)
    }

    @Test(
        "Every answer of ADM has its disposition",
        arguments: [
            (200, "", nil, Disposition.accepted),
            (400, ADMReason.unregistered, nil, .tokenDead(sinceMilliseconds: nil)),
            (400, ADMReason.invalidRegistrationID, nil, .tokenRejected(reason: "InvalidRegistrationId")),
            (400, "InvalidData", nil, .deadLetter(reason: "InvalidData")),
            (401, ADMReason.accessTokenExpired, nil, .keyRejected(reason: "AccessTokenExpired")),
            (413, "MessageTooLarge", nil, .deadLetter(reason: "MessageTooLarge")),
            (429, ADMReason.rateExceeded, nil, .retry(.throttled, afterSeconds: 60)),
            (429, ADMReason.rateExceeded, 5, .retry(.throttled, afterSeconds: 5)),
            (500, "InternalServerError", 20, .retry(.serviceUnavailable, afterSeconds: 20)),
            (503, "", nil, .retry(.serviceUnavailable, afterSeconds: nil)),
        ] as [(Int, String, Int?, Disposition)])
    func adm(status: Int, reason: String, retryAfterSeconds: Int?, expected: Disposition) {
        let answer = PushAnswer(status: status, reason: reason, retryAfterSeconds: retryAfterSeconds)
        #expect(Disposition(.answered(answer), of: .adm) == expected)
    }

    @Test(
        "Every answer of a browser's push service has its disposition",
        arguments: [
            (201, "", nil, Disposition.accepted),
            (202, "", nil, .accepted),
            (204, "", nil, .accepted),
            (404, "", nil, .tokenDead(sinceMilliseconds: nil)),
            (410, "", nil, .tokenDead(sinceMilliseconds: nil)),
            (410, WebPushReason.goneSoon, nil, .retry(.serviceUnavailable, afterSeconds: 60)),
            (403, WebPushReason.otherKey, nil, .tokenRejected(reason: "VAPID_KEY_MISMATCH")),
            (400, WebPushReason.otherKey, nil, .tokenRejected(reason: "VAPID_KEY_MISMATCH")),
            (400, WebPushReason.tokenRefused, nil, .keyRejected(reason: "VAPID_TOKEN_REFUSED")),
            (401, "", nil, .keyRejected(reason: "status-401")),
            (403, "BadJwtToken", nil, .keyRejected(reason: "BadJwtToken")),
            (400, "BadTtl", nil, .deadLetter(reason: "BadTtl")),
            (413, "", nil, .deadLetter(reason: "status-413")),
            (406, "", 900, .retry(.throttled, afterSeconds: 900)),
            (429, "", nil, .retry(.throttled, afterSeconds: 60)),
            (500, "", nil, .retry(.serviceUnavailable, afterSeconds: nil)),
            (301, "", nil, .deadLetter(reason: "status-301")),
        ] as [(Int, String, Int?, Disposition)])
    func webPush(status: Int, reason: String, retryAfterSeconds: Int?, expected: Disposition) {
        let answer = PushAnswer(status: status, reason: reason, retryAfterSeconds: retryAfterSeconds)
        #expect(Disposition(.answered(answer), of: .webPush) == expected)
    }

    @Test(
        "A status that speaks of the way to a service, and not of the push, has it tried again",
        arguments: PushService.allCases, [407, 408, 421, 425, 499])
    func transit(service: PushService, status: Int) {
        for retryAfterSeconds in [nil, 90] {
            let answer = PushAnswer(status: status, retryAfterSeconds: retryAfterSeconds)
            let disposition = Disposition(.answered(answer), of: service)
            let least = service == .fcm ? 10 : nil
            #expect(disposition == .retry(.serviceUnavailable, afterSeconds: retryAfterSeconds ?? least))
        }
    }

    @Test("A bare status of any number never makes a token of FCM or ADM dead")
    func neverDeadWithoutProof() {
        for service in [PushService.fcm, .adm] {
            for status in -1...1_000 {
                switch Disposition(.answered(PushAnswer(status: status)), of: service) {
                case .tokenDead, .tokenRejected: Issue.record("\(service) \(status) makes a token dead")
                default: break
                }
            }
        }
    }
}
