internal import HTTPClient
import Notifications
internal import ServiceClient

/// The protocol of browsers' push services over HTTP/1.1, for a service that does not speak HTTP/2.
///
/// Its requests and answers are those of `WebPushAdapter`.
final class WebPushHTTP1Adapter: HTTP1Adapter {
    private let vendor: WebPushVendor
    private let parser: WebPushAnswerParser

    /// Prepares requests to one origin, whose host is in small letters.
    init(host: String) {
        vendor = WebPushVendor(host: host)
        parser = WebPushAnswerParser(vendor: vendor)
    }

    func request(
        for push: borrowing PushRequest, authorization: [UInt8], destination: PostDestination, nowSeconds: Int64
    ) -> PostRequest {
        let content = push.content
        let timeToLive = WebPushAdapter.timeToLive(
            until: content.expirationSeconds, nowSeconds: nowSeconds, vendor)
        var fields = [
            ("Authorization", String(decoding: authorization, as: UTF8.self)),
            // Without it, libcurl says that the body is a form.
            ("Content-Type", "application/octet-stream"), ("Content-Encoding", "aes128gcm"), ("TTL", "\(timeToLive)"),
            ("Urgency", "\(content.priority.webPushUrgency)"),
        ]
        if !content.topic.isEmpty { fields.append(("Topic", content.topic)) }
        return PostRequest(to: destination, path: Self.path(push.token), fields: fields, body: content.payload)
    }

    /// The endpoint without its origin and fragment.
    private static func path(_ token: DeviceToken) -> String {
        token.bytes.withUnsafeBufferPointer { bytes in
            let path = String(decoding: bytes[EndpointPath.range(in: bytes)], as: UTF8.self)
            return path.hasPrefix("/") ? path : "/" + path
        }
    }

    func answer(_ answer: PostAnswer, to push: borrowing PushRequest, nowSeconds: Int64) -> PushAnswer {
        guard !WebPushAdapter.acceptedStatuses.contains(answer.status) else { return PushAnswer(status: 200) }
        return parser.answer(
            status: answer.status, body: answer.body,
            retryAfterSeconds: answer.retryAfterSeconds(nowSeconds: nowSeconds))
    }

    func meaning(of answer: PushAnswer) -> AnswerMeaning { WebPushAdapter.meaning(of: answer) }
}
