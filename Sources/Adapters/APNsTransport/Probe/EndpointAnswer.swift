public import Notifications

/// What APNs answered to an `EndpointRequest`.
public struct EndpointAnswer: Sendable {
    /// The HTTP status.
    public internal(set) var status = 0
    /// The header `apns-channel-id`.
    public internal(set) var channelID: String?
    /// The header `retry-after`, in seconds.
    public internal(set) var retryAfterSeconds: Int?
    /// The body, at most `bodyBytesMaximum` bytes of it.
    public internal(set) var body: [UInt8] = []

    /// The longest body that is read: ten thousand channel identifiers need less.
    public static let bodyBytesMaximum = 1 << 20

    /// The status with the reason that the body gives.
    public var pushAnswer: PushAnswer {
        AnswerParser().answer(
            status: status, body: Array(body.prefix(AnswerParser.bodyBytesMaximum)),
            retryAfterSeconds: retryAfterSeconds)
    }

    mutating func add(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
        let text = String(decoding: value, as: UTF8.self)
        switch String(decoding: name, as: UTF8.self) {
        case ":status": status = Int(text) ?? 0
        case "apns-channel-id": channelID = text
        case "retry-after": retryAfterSeconds = Int(text)
        default: break
        }
    }

    mutating func add(body bytes: UnsafeRawBufferPointer) {
        body.append(contentsOf: bytes.prefix(Self.bodyBytesMaximum - body.count))
    }
}
