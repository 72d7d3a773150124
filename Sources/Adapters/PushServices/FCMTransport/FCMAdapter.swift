import Essentials
internal import HTTP2
import Notifications
internal import ServiceClient

/// FCM's HTTP v1 interface, as the client of push services sees it.
///
/// A request is one message (Google, REST reference of FCM v1, `projects.messages.send`):
///
///     POST /v1/projects/{project}/messages:send
///     authorization: Bearer {access token}
///     content-type: application/json
///
/// All header fields of a connection's requests are the same, so each costs a byte after the first request.
final class FCMAdapter: ServiceAdapter {
    let acceptedStatuses = 200...200
    let bindsConnections = false

    private let authority: [UInt8]
    private let path: [UInt8]
    private let readsNames: Bool
    private let parser = FCMAnswerParser()
    private let nowSeconds: () -> Int64
    private var block = HeaderBlock()
    /// The authorization that `block` was written with.
    private var writtenAuthorization: [UInt8] = []
    private var body: [UInt8] = []

    /// Prepares requests of one project to one endpoint.
    ///
    /// - Parameters:
    ///   - authority: the header `:authority`.
    ///   - projectID: the project whose apps get the messages.
    ///   - readsNames: whether the names of accepted messages are asked for.
    ///   - nowSeconds: the wall clock, in seconds since 1970.
    init(authority: String, projectID: String, readsNames: Bool = false, nowSeconds: @escaping () -> Int64) {
        self.authority = Array(authority.utf8)
        path = Array("/v1/projects/\(projectID)/messages:send".utf8)
        self.readsNames = readsNames
        self.nowSeconds = nowSeconds
    }

    func bodyBytes(of request: borrowing PushRequest) -> Int {
        FCMMessageWriter.bytesMaximum(of: request.content, to: request.token)
    }

    func submit(
        _ request: borrowing PushRequest, authorization: [UInt8], sent: inout SentFields,
        on connection: HTTP2Connection
    ) throws(HTTP2Error) -> Int32 {
        if authorization != writtenAuthorization { write(authorization) }
        FCMMessageWriter.write(request.content, to: request.token, nowSeconds: nowSeconds(), into: &body)
        // An array would be kept until it is sent, and this one is written again with the next push.
        return try body.withUnsafeBufferPointer { bytes throws(HTTP2Error) in
            try connection.submitRequest(block, body: UnsafeRawBufferPointer(bytes))
        }
    }

    func messageName(in body: [UInt8]) -> String? { readsNames ? parser.messageName(in: body) : nil }

    func answer(status: Int, body: [UInt8], retryAfterSeconds: Int?) -> PushAnswer {
        parser.answer(status: status, body: body, retryAfterSeconds: retryAfterSeconds)
    }

    func meaning(of answer: PushAnswer) -> AnswerMeaning {
        switch (answer.status, answer.reason) {
        case (401, FCMReason.thirdPartyAuthentication), (403, FCMReason.senderMismatch),
            (404, FCMReason.unregistered):
            []
        // They end the pushes of the whole account, so the next attempt goes over another connection.
        case (401, _): [.authorizationRefused, .authorizationExpired, .connectionSuspect]
        case (403, _), (404, _), (400, FCMReason.projectUnknown): [.authorizationRefused, .connectionSuspect]
        default: []
        }
    }

    func reason(inGoAway debugData: [UInt8]) -> String { String(decoding: debugData.prefix(128), as: UTF8.self) }

    func releaseMemory() { parser.releaseMemory() }

    private func write(_ authorization: [UInt8]) {
        writtenAuthorization = authorization
        block.removeAll()
        block.add(":method", value: "POST" as StaticString)
        block.add(":scheme", value: "https" as StaticString)
        block.add(":authority", value: authority)
        block.add(":path", value: path)
        block.add("authorization", value: authorization)
        block.add("content-type", value: "application/json" as StaticString)
    }
}
