import Essentials
internal import HTTP2
import Notifications
internal import ServiceClient

/// APNs, as the client of push services sees it.
///
/// It writes the header fields of a push in memory that is used again for the next.
///
/// Apple's advice on header compression has three rules: `:path` and `authorization` never enter the table; `apns-id`,
/// `apns-expiration` and `apns-collapse-id` only once on a connection, for their names; all others always. (Apple,
/// "Sending notification requests to APNs".)
final class APNsAdapter: ServiceAdapter {
    private static let pathPrefix = Array("/3/device/".utf8)

    let acceptedStatuses = 200...200
    let bindsConnections = true

    /// The fields written last.
    private var block = HeaderBlock()
    private let parser = AnswerParser()
    private let authority: [UInt8]
    private var path: [UInt8]
    private var identifier = [UInt8](repeating: 0, count: APNsIdentifier.textLength)
    /// The expiration written last, and its digits: pushes of one event, and of one second, share it.
    private var expiration: (seconds: Int64, digits: [UInt8]) = (0, [0x30])

    /// Prepares requests to one endpoint.
    init(authority: String) {
        self.authority = Array(authority.utf8)
        path = Self.pathPrefix + [UInt8](repeating: 0, count: 2 * DeviceToken.bytesMaximum)
    }

    func bodyBytes(of request: borrowing PushRequest) -> Int { request.content.payload.count }

    func submit(
        _ request: borrowing PushRequest, authorization: [UInt8], sent: inout SentFields,
        on connection: HTTP2Connection
    ) throws(HTTP2Error) -> Int32 {
        encode(request, authorization: authorization, sent: &sent)
        return try connection.submitRequest(block, body: request.content.payload)
    }

    func answer(status: Int, body: [UInt8], retryAfterSeconds: Int?) -> PushAnswer {
        parser.answer(status: status, body: body, retryAfterSeconds: retryAfterSeconds)
    }

    func meaning(of answer: PushAnswer) -> AnswerMeaning { AnswerMeaning(ofAPNs: answer) }

    func reason(inGoAway debugData: [UInt8]) -> String { parser.reason(inGoAway: debugData) }

    func releaseMemory() { parser.releaseMemory() }

    /// Writes the fields of one push.
    private func encode(_ request: borrowing PushRequest, authorization: [UInt8], sent: inout SentFields) {
        let content = request.content
        block.removeAll()
        block.add(":method", value: "POST" as StaticString)
        block.add(":scheme", value: "https" as StaticString)
        block.add(":authority", value: authority)
        addPath(request.token)
        block.add("authorization", value: authorization, indexing: .neverAdd)
        block.add("apns-topic", value: content.topic)
        block.add("apns-push-type", value: content.pushType.headerValue)
        block.add("apns-priority", value: content.priority.headerValue)
        identifier.withUnsafeMutableBufferPointer { request.apnsID.write(to: $0) }
        block.add("apns-id", value: identifier, indexing: Self.indexing(.identifier, &sent))
        if let seconds = content.expirationSeconds {
            if seconds != expiration.seconds { expiration = (seconds, Array(String(seconds).utf8)) }
            block.add("apns-expiration", value: expiration.digits, indexing: Self.indexing(.expiration, &sent))
        }
        if let collapseID = content.collapseID {
            block.add("apns-collapse-id", value: collapseID, indexing: Self.indexing(.collapseID, &sent))
        }
    }

    private static func indexing(_ field: SentFields, _ sent: inout SentFields) -> HeaderBlock.Indexing {
        guard !sent.contains(field) else { return .neverAdd }
        sent.insert(field)
        return .incremental
    }

    private func addPath(_ token: DeviceToken) {
        let length = Self.pathPrefix.count + 2 * token.bytes.count
        path.withUnsafeMutableBytes { path in
            token.bytes.withUnsafeBufferPointer {
                HexadecimalDigits.write($0, to: UnsafeMutableRawBufferPointer(rebasing: path[Self.pathPrefix.count...]))
            }
        }
        path.withUnsafeBufferPointer {
            block.add(":path", value: UnsafeBufferPointer(rebasing: $0[..<length]), indexing: .neverAdd)
        }
    }
}

/// The fields whose names a connection has sent before.
extension SentFields {
    fileprivate static let identifier = SentFields(rawValue: 1)
    fileprivate static let expiration = SentFields(rawValue: 2)
    fileprivate static let collapseID = SentFields(rawValue: 4)
}

extension PushPriority {
    /// The header value as a constant, which needs no copy.
    fileprivate var headerValue: StaticString {
        switch self {
        case .immediate: "10"
        case .conserving: "5"
        case .passive: "1"
        }
    }
}

extension PushType {
    /// The header value as a constant, which needs no copy.
    fileprivate var headerValue: StaticString {
        switch self {
        case .alert: "alert"
        case .background: "background"
        case .complication: "complication"
        case .controls: "controls"
        case .fileprovider: "fileprovider"
        case .liveactivity: "liveactivity"
        case .location: "location"
        case .mdm: "mdm"
        case .pushtotalk: "pushtotalk"
        case .voip: "voip"
        case .widgets: "widgets"
        }
    }
}
