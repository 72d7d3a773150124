internal import HTTP2
import Notifications
internal import ServiceClient

/// The protocol of browsers' push services, as the client of push services sees it (RFC 8030, RFC 8291, RFC 8292).
///
/// The content of each request is encrypted already: `payload` is the body for this one subscription.
final class WebPushAdapter: ServiceAdapter {
    /// The time to live of a push that does not expire, in seconds: four weeks, the most that all services take.
    static let timeToLiveSecondsMaximum: Int64 = 2_419_200

    /// 201 with a receipt's address, 202, and what other services answer (RFC 8030 section 5).
    static let acceptedStatuses = 200...204
    var acceptedStatuses: ClosedRange<Int> { Self.acceptedStatuses }
    /// A service judges each request by its own token (RFC 8292 section 4.2).
    let bindsConnections = false

    private let authority: [UInt8]
    private let vendor: WebPushVendor
    private let parser: WebPushAnswerParser
    private let nowSeconds: @Sendable () -> Int64
    /// The fields written last.
    private var block = HeaderBlock()

    /// Prepares requests to one origin.
    ///
    /// - Parameters:
    ///   - authority: the field `:authority`.
    ///   - host: the host, in small letters.
    ///   - nowSeconds: the wall clock, in seconds since 1970.
    init(authority: String, host: String, nowSeconds: @escaping @Sendable () -> Int64) {
        self.authority = Array(authority.utf8)
        vendor = WebPushVendor(host: host)
        parser = WebPushAnswerParser(vendor: vendor)
        self.nowSeconds = nowSeconds
    }

    func bodyBytes(of request: borrowing PushRequest) -> Int { request.content.payload.count }

    func submit(
        _ request: borrowing PushRequest, authorization: [UInt8], sent: inout SentFields,
        on connection: HTTP2Connection
    ) throws(HTTP2Error) -> Int32 {
        let content = request.content
        block.removeAll()
        block.add(":method", value: "POST" as StaticString)
        block.add(":scheme", value: "https" as StaticString)
        block.add(":authority", value: authority)
        addPath(request.token)
        // Guessing a part of the token does not help an attacker, because the whole is signed. So it may be compressed.
        block.add("authorization", value: authorization)
        block.add("content-encoding", value: "aes128gcm" as StaticString)
        block.add("ttl", value: Self.timeToLive(until: content.expirationSeconds, nowSeconds: nowSeconds(), vendor))
        block.add("urgency", value: content.priority.webPushUrgency)
        if !content.topic.isEmpty { block.add("topic", value: content.topic, indexing: .neverAdd) }
        return try connection.submitRequest(block, body: content.payload)
    }

    /// Adds the endpoint without its origin and fragment; it is a secret.
    private func addPath(_ token: DeviceToken) {
        token.bytes.withUnsafeBufferPointer { bytes in
            let path = EndpointPath.range(in: bytes)
            if bytes[path].first == UInt8(ascii: "/") {
                block.add(":path", value: UnsafeBufferPointer(rebasing: bytes[path]), indexing: .neverAdd)
            } else {
                block.add(":path", value: [UInt8(ascii: "/")] + bytes[path], indexing: .neverAdd)
            }
        }
    }

    /// The field `TTL`, counted at the moment of sending.
    static func timeToLive(until expirationSeconds: Int64?, nowSeconds: Int64, _ vendor: WebPushVendor) -> Int64 {
        guard let expirationSeconds else { return timeToLiveSecondsMaximum }
        let (left, overflows) = expirationSeconds.subtractingReportingOverflow(nowSeconds)
        return min(max(vendor.timeToLiveSecondsMinimum, overflows ? 0 : left), timeToLiveSecondsMaximum)
    }

    func answer(status: Int, body: [UInt8], retryAfterSeconds: Int?) -> PushAnswer {
        parser.answer(status: status, body: body, retryAfterSeconds: retryAfterSeconds)
    }

    func meaning(of answer: PushAnswer) -> AnswerMeaning { Self.meaning(of: answer) }

    static func meaning(of answer: PushAnswer) -> AnswerMeaning {
        answer.refusesVAPIDToken ? [.authorizationRefused, .authorizationExpired] : []
    }

    func reason(inGoAway debugData: [UInt8]) -> String { ServiceExplanation.reason(debugData) }

    func releaseMemory() { parser.releaseMemory() }
}

extension PushAnswer {
    /// Whether the push service does not take the token of the sender, or the key that signed it.
    var refusesVAPIDToken: Bool {
        reason == WebPushReason.tokenRefused || (status == 401 || status == 403) && reason != WebPushReason.otherKey
    }
}

/// The part of an endpoint that goes into the field `:path`.
enum EndpointPath {
    private static let schemeBytes = "https://".utf8.count

    /// The range after the origin, without a fragment; empty, or begins with a slash or a question mark.
    static func range(in endpoint: UnsafeBufferPointer<UInt8>) -> Range<Int> {
        let afterScheme = min(schemeBytes, endpoint.count)
        let start = endpoint[afterScheme...].firstIndex(where: begins(with:)) ?? endpoint.count
        let end = endpoint[start...].firstIndex(of: UInt8(ascii: "#")) ?? endpoint.count
        return start..<end
    }

    /// Whether a byte after the host begins the path, or what follows it.
    static func begins(with byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"): true
        default: false
        }
    }
}
