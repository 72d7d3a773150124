import Essentials
import HTTPClient
import Metrics
import Notifications
import ServiceClient
import StructuredLogging

/// Amazon Device Messaging, as `HTTP1Client` sees it.
///
/// Source of the request: Amazon, "Send a message" (ADM), section "Request format".
final class ADMAdapter: HTTP1Adapter {
    private let app: String
    private let logger: Logger
    private let replaced: Counter
    private let parser = ADMAnswerParser()
    private var body: [UInt8] = []

    /// Creates the adapter of a route.
    ///
    /// - Parameters:
    ///   - app: the name of the app, for logs.
    ///   - logger: where replaced registration IDs are logged.
    ///   - replaced: counts them.
    init(app: String, logger: Logger, replaced: Counter) {
        self.app = app
        self.logger = logger
        self.replaced = replaced
    }

    func request(
        for push: borrowing PushRequest, authorization: [UInt8], destination: PostDestination, nowSeconds: Int64
    ) -> PostRequest {
        ADMMessageWriter.write(push.content, nowSeconds: nowSeconds, into: &body)
        return PostRequest(
            to: destination, path: "/messaging/registrations/\(PercentEncoding.encode(push.token.bytes))/messages",
            fields: [
                ("Authorization", String(decoding: authorization, as: UTF8.self)),
                ("Content-Type", "application/json"), ("Accept", "application/json"),
                ("X-Amzn-Type-Version", "com.amazon.device.messaging.ADMMessage@1.0"),
                ("X-Amzn-Accept-Type", "com.amazon.device.messaging.ADMSendResult@1.0"),
            ], body: body)
    }

    func answer(_ answer: PostAnswer, to push: borrowing PushRequest, nowSeconds: Int64) -> PushAnswer {
        guard answer.status == 200 else {
            return parser.refusal(
                status: answer.status, body: answer.body,
                retryAfterSeconds: answer.retryAfterSeconds(nowSeconds: nowSeconds))
        }
        guard let successor = parser.registrationID(in: answer.body), successor != push.token else {
            return PushAnswer(status: 200)
        }
        registrationReplaced(push.token, by: successor)
        return PushAnswer(status: 200, successor: successor)
    }

    /// ADM knows the installation by another registration ID by now, and still takes the old one for a while (Amazon,
    /// "Send a message", ADM).
    private func registrationReplaced(_ token: DeviceToken, by successor: DeviceToken) {
        replaced.add()
        logger.log(
            .info, "push.registration.replaced",
            [
                .field("service", "adm"), .field("app", app), .field("token", token.excerpt(for: .adm)),
                .field("successor", successor.excerpt(for: .adm)),
            ])
    }

    func meaning(of answer: PushAnswer) -> AnswerMeaning {
        switch answer.status {
        case 401: [.authorizationRefused, .authorizationExpired]
        case 403: .authorizationRefused
        default: []
        }
    }
}
