/// Makes what is sent to every device of one event: headers decided, rules checked, payload rendered, once per event.
public struct PushContentBuilder {
    private let rules: NotificationRules
    private var payloads = PayloadBuilder()

    /// Creates a builder for the pushes of one app.
    ///
    /// - Parameter bundleID: the app's bundle identifier, from which the topic of each push type is made.
    public init(bundleID: String) { rules = NotificationRules(bundleID: bundleID) }

    /// Makes the content of a push that a backend asked for.
    ///
    /// - Parameters:
    ///   - notification: what it says.
    ///   - options: how it is to be sent; what is nil is decided from the notification.
    /// - Returns: the content, ready to be sent.
    /// - Throws: `EventRejection` with `invalidNotification` or `invalidField`, saying what would be right.
    public mutating func content(
        of notification: Notification, options: PushOptions
    ) throws(EventRejection) -> PushContent {
        let headers = try rules.headers(for: notification, options: options)
        return try content(payload: payloads.payload(of: notification), headers: headers)
    }

    /// Makes the silent push that tells the other devices of an identity about a dataset.
    ///
    /// Its collapse identifier is derived from the dataset, so that a device that was away gets the newest change
    /// only.
    ///
    /// - Parameters:
    ///   - change: what happened.
    ///   - expirationSeconds: until when the push is of use, in seconds since 1970; nil leaves storage to APNs.
    /// - Returns: the content, ready to be sent.
    /// - Throws: `EventRejection` if the names are so long that the payload exceeds APNs' limit.
    public mutating func content(
        of change: DatasetChange, expirationSeconds: Int64?
    ) throws(EventRejection) -> PushContent {
        let options = PushOptions(
            expirationSeconds: expirationSeconds, collapseID: DerivedCollapseID.ofDataset(change.key))
        let headers = try rules.headers(pushType: .background, options: options)
        return try content(payload: payloads.payload(of: change), headers: headers)
    }

    private func content(
        payload: [UInt8], headers: NotificationRules.Headers
    ) throws(EventRejection) -> PushContent {
        try NotificationRules.checkPayloadSize(payload.count, pushType: headers.pushType)
        return PushContent(
            payload: payload, topic: headers.topic, pushType: headers.pushType, priority: headers.priority,
            expirationSeconds: headers.expirationSeconds, collapseID: headers.collapseID)
    }
}
