/// What is sent to every device of one event, rendered once: the payload and the headers that all its pushes share.
public final class PushContent: Sendable {
    /// The JSON payload, within Apple's limit.
    public let payload: [UInt8]
    /// The header `apns-topic`: the bundle identifier with the suffix of the push type.
    public let topic: String
    /// The header `apns-push-type`.
    public let pushType: PushType
    /// The header `apns-priority`.
    public let priority: PushPriority
    /// The header `apns-expiration`, in seconds since 1970; nil leaves storage to APNs.
    public let expirationSeconds: Int64?
    /// The header `apns-collapse-id`, at most 64 bytes.
    public let collapseID: String?

    /// Creates a content from parts that have been checked.
    public init(
        payload: [UInt8], topic: String, pushType: PushType, priority: PushPriority, expirationSeconds: Int64?,
        collapseID: String?
    ) {
        self.payload = payload
        self.topic = topic
        self.pushType = pushType
        self.priority = priority
        self.expirationSeconds = expirationSeconds
        self.collapseID = collapseID
    }
}
