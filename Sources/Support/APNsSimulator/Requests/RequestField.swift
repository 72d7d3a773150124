/// The request headers that APNs looks at.
///
/// Source: Apple, "Sending notification requests to APNs".
enum RequestField: Int, CaseIterable {
    case method
    case path
    case authorization
    case identifier
    case expiration
    case priority
    case pushType
    case topic
    case collapseIdentifier
    case contentType
    case channelIdentifier

    /// The name on the wire; HTTP/2 has lowercase names only (RFC 9113, section 8.2).
    var name: StaticString {
        switch self {
        case .method: ":method"
        case .path: ":path"
        case .authorization: "authorization"
        case .identifier: "apns-id"
        case .expiration: "apns-expiration"
        case .priority: "apns-priority"
        case .pushType: "apns-push-type"
        case .topic: "apns-topic"
        case .collapseIdentifier: "apns-collapse-id"
        case .contentType: "content-type"
        case .channelIdentifier: "apns-channel-id"
        }
    }

    /// Finds the field of a name, or nil for a header that APNs ignores.
    ///
    /// Looks at the length first: it leaves one or two candidates, and this runs for every header of every request.
    init?(name: UnsafeBufferPointer<UInt8>) {
        let candidates: (RequestField, RequestField)
        switch name.count {
        case 5: candidates = (.path, .path)
        case 7: candidates = (.method, .identifier)
        case 10: candidates = (.topic, .topic)
        case 12: candidates = (.contentType, .contentType)
        case 13: candidates = (.authorization, .priority)
        case 14: candidates = (.pushType, .pushType)
        case 15: candidates = (.expiration, .channelIdentifier)
        case 16: candidates = (.collapseIdentifier, .collapseIdentifier)
        default: return nil
        }
        if name.matches(candidates.0.name) {
            self = candidates.0
        } else if name.matches(candidates.1.name) {
            self = candidates.1
        } else {
            return nil
        }
    }
}
