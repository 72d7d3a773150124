internal import HTTP2
import Notifications

/// Writes the header fields of a push, in memory that is used again for the next.
///
/// Apple's advice on header compression has three rules: `:path` and `authorization` never enter the table; `apns-id`,
/// `apns-expiration` and `apns-collapse-id` only once on a connection, for their names; all others always. (Apple,
/// "Sending notification requests to APNs".)
struct RequestEncoder: ~Copyable {
    /// Which fields a connection has sent before.
    struct SentFields {
        var identifier = false
        var expiration = false
        var collapseID = false
    }

    private static let pathPrefix = Array("/3/device/".utf8)

    /// The fields written last.
    private(set) var block = HeaderBlock()
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

    /// Writes the fields of one push.
    ///
    /// - Parameters:
    ///   - request: the push.
    ///   - authorization: the value of the header `authorization`.
    ///   - sent: the headers that the connection has sent before; updated.
    mutating func encode(_ request: borrowing PushRequest, authorization: [UInt8], sent: inout SentFields) {
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
        block.add("apns-id", value: identifier, indexing: Self.indexing(&sent.identifier))
        if let seconds = content.expirationSeconds {
            if seconds != expiration.seconds { expiration = (seconds, Array(String(seconds).utf8)) }
            block.add("apns-expiration", value: expiration.digits, indexing: Self.indexing(&sent.expiration))
        }
        if let collapseID = content.collapseID {
            block.add("apns-collapse-id", value: collapseID, indexing: Self.indexing(&sent.collapseID))
        }
    }

    private static func indexing(_ wasSent: inout Bool) -> HeaderBlock.Indexing {
        guard !wasSent else { return .neverAdd }
        wasSent = true
        return .incremental
    }

    private mutating func addPath(_ token: DeviceToken) {
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
