import Essentials
import Notifications

@testable import ADMTransport
@testable import FCMTransport
@testable import ServiceClient
@testable import WebPushTransport

/// Reads what push services beside APNs and the token endpoints answer, and what their credentials and endpoints say.
///
/// The first part is a body, an endpoint or a file. Its choices are the status and the wait of the answer. Reasons must
/// be short and printable, no secret may be repeated, and a token may end only on proof.
struct ServicesFuzzTarget: FuzzTarget {
    private static let secret = "s3cr3t"
    private static let hosts = [
        "fcm.googleapis.com", "updates.push.services.mozilla.com", "web.push.apple.com", "wns2-1.notify.windows.com",
        "push.example.com",
    ]

    func run(_ input: FuzzInput) throws(FuzzFailure) {
        var input = input
        let status = input.choice([200, 400, 401, 403, 404, 406, 410, 413, 429, 500, 503, 302, 201, 999])
        let retryAfter = input.byte() == 0 ? nil : Int(clamping: input.integer())
        let body = input.text
        try check(
            FCMAnswerParser().answer(status: status, body: body, retryAfterSeconds: retryAfter), of: .fcm,
            deadReasons: [FCMReason.unregistered])
        _ = FCMAnswerParser().messageName(in: body)
        try check(
            ADMAnswerParser().refusal(status: status, body: body, retryAfterSeconds: retryAfter), of: .adm,
            deadReasons: [ADMReason.unregistered])
        if let successor = ADMAnswerParser().registrationID(in: body) {
            try promise(
                (1...DeviceToken.textBytesMaximum).contains(successor.bytes.count)
                    && successor.bytes.allSatisfy { $0 > 0x20 && $0 < 0x7f },
                "a registration ID of ADM is \(successor.bytes)")
        }
        for host in Self.hosts {
            let parser = WebPushAnswerParser(vendor: WebPushVendor(host: host))
            let answer = parser.answer(status: status, body: body, retryAfterSeconds: retryAfter)
            try check(answer, of: .webPush, deadReasons: nil)
        }
        try readAccessToken(status: status, body, retryAfter)
        try readEndpoint(body)
        _ = try? ServiceAccount(json: body)
    }

    /// Checks a reason, and the fate of the push.
    ///
    /// - Parameters:
    ///   - answer: the answer.
    ///   - service: the service that gave it.
    ///   - deadReasons: the reasons without which no token is dead; nil if the status alone says it.
    /// - Throws: `FuzzFailure` if a promise is broken.
    private func check(
        _ answer: PushAnswer, of service: PushService, deadReasons: [String]?
    ) throws(FuzzFailure) {
        try promise(
            answer.reason.utf8.count <= 128 && answer.reason.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f },
            "a reason of \(service) is \"\(answer.reason)\"")
        if let explanation = answer.explanation {
            try promise(
                explanation.utf8.count <= ServiceExplanation.bytesMaximum + "…".utf8.count
                    && explanation.printable() == explanation
                    && !explanation.utf8.split(whereSeparator: { !Self.isWordByte($0) }).contains { $0.count > 64 },
                "\(service) explains \"\(explanation)\"")
        }
        let disposition = Disposition(.answered(answer), of: service)
        switch disposition {
        case .accepted:
            try promise((200...204).contains(answer.status), "\(service) accepts by the status \(answer.status)")
        case .tokenDead:
            let isProven = deadReasons?.contains(answer.reason) ?? (answer.status == 404 || answer.status == 410)
            try promise(isProven, "\(service) ends a token by \(answer)")
        case .resend, .resendPossibleDuplicate:
            try promise(answer.status >= 400, "\(service) has a push sent again by \(answer)")
        case .tokenRejected, .deadLetter, .retry, .keyRejected: break
        }
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (97...122).contains(byte)
    }

    private func readAccessToken(status: Int, _ body: [UInt8], _ retryAfter: Int?) throws(FuzzFailure) {
        let outcome = AccessTokenOutcome(
            status: status, body: body, retryAfterSeconds: retryAfter, hiding: Self.secret)
        switch outcome {
        case .granted(let token, let lifeSeconds):
            try promise(status == 200 && !token.isEmpty && (1...86_400).contains(lifeSeconds), "granted \(outcome)")
        case .failed(let failure):
            try promise(!failure.reason.contains(Self.secret), "a failure repeats the secret: \(failure.reason)")
            try promise(
                failure.reason.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f },
                "a failure is not printable: \(Array(failure.reason.utf8))")
        }
    }

    private func readEndpoint(_ text: [UInt8]) throws(FuzzFailure) {
        guard let token = DeviceToken(text: text), let origin = WebPushOrigin(token) else { return }
        try promise(
            !origin.host.isEmpty && origin.port > 0
                && origin.host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && !"/?#@\\".utf8.contains($0) },
            "an endpoint leads to \"\(origin.host)\"")
    }
}
