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
