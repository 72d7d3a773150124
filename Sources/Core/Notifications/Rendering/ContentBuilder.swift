/// Writes the contents of pushes in the form that one push service takes, once for all devices of an event.
public protocol ContentBuilder {
    /// Makes the content of a push that a backend, or a subscription, asked for.
    ///
    /// - Parameters:
    ///   - notification: the content of the push.
    ///   - options: how it is to be sent; the notification decides what is nil.
    /// - Returns: the content, ready to be sent.
    /// - Throws: `EventRejection` if the push service would refuse it, saying what would be right.
    mutating func content(
        of notification: Notification, options: PushOptions
    ) throws(EventRejection) -> PushContent

    /// Makes the silent push about a dataset for the other devices of an identity.
    ///
    /// - Parameters:
    ///   - change: the change.
    ///   - expirationSeconds: the time at which the push expires, in seconds since 1970; nil leaves it to the service.
    /// - Returns: the content, ready to be sent.
    /// - Throws: `EventRejection` if the names are too long for the push service.
    mutating func content(
        of change: DatasetChange, expirationSeconds: Int64?
    ) throws(EventRejection) -> PushContent
}

extension PushContentBuilder: ContentBuilder {}
extension ADMMessageBuilder: ContentBuilder {}
extension FCMMessageBuilder: ContentBuilder {}
extension WebPushMessageBuilder: ContentBuilder {}

extension PushService {
    /// Makes the builder for the pushes of one app.
    ///
    /// - Parameter bundleID: the app's bundle identifier.
    /// - Returns: the builder.
    public func makeContentBuilder(bundleID: String) -> any ContentBuilder {
        switch self {
        case .fcm: FCMMessageBuilder()
        case .adm: ADMMessageBuilder()
        case .webPush: WebPushMessageBuilder()
        // A client that fetches its notifications gets what an iPhone would get.
        case .apns, .courier: PushContentBuilder(bundleID: bundleID)
        }
    }
}

extension PushService {
    /// Stands for the token of a device in `shown`.
    private static let token = "TOKEN"

    /// What the service would get of a push, to be shown to people.
    ///
    /// - Parameters:
    ///   - content: the content from the service's builder.
    ///   - nowSeconds: the wall clock, in seconds since 1970, from which times to live count.
    /// - Returns: the header fields that the push decides, without those of the connection and the credentials; and the
    ///   body, JSON, which is not encrypted, and has `TOKEN` for the token of a device.
    public func shown(
        _ content: PushContent, nowSeconds: Int64
    ) -> (fields: [(name: String, value: String)], body: [UInt8]) {
        var body: [UInt8] = []
        switch self {
        case .apns, .courier: return (Self.shownFieldsOfAPNs(content), content.payload)
        case .webPush:
            let urgency = [(name: "urgency", value: "\(content.priority.webPushUrgency)")]
            return (urgency + (content.topic.isEmpty ? [] : [("topic", content.topic)]), content.payload)
        case .adm: ADMMessageWriter.write(content, nowSeconds: nowSeconds, into: &body)
        case .fcm:
            guard let token = DeviceToken(bytes: Array(Self.token.utf8)) else { return ([], content.payload) }
            FCMMessageWriter.write(content, to: token, nowSeconds: nowSeconds, into: &body)
        }
        return ([], body)
    }

    private static func shownFieldsOfAPNs(_ content: PushContent) -> [(name: String, value: String)] {
        var fields = [
            (name: "apns-topic", value: content.topic), ("apns-push-type", content.pushType.rawValue),
            ("apns-priority", "\(content.priority.rawValue)"),
        ]
        if let seconds = content.expirationSeconds { fields.append(("apns-expiration", "\(seconds)")) }
        if let collapseID = content.collapseID { fields.append(("apns-collapse-id", collapseID)) }
        return fields
    }
}
