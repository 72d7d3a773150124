import Notifications

/// What a push says and how it is sent; the same value can be sent to any number of tokens.
///
/// The payload is made, and all of Apple's rules that can be seen before sending are checked, when the message is
/// built.
public struct PushMessage: Sendable {
    /// Names this message: the `apns-id` of each push is derived from it and the token, so that whoever sends the same
    /// message to the same token again, even after a restart, sends the same `apns-id`.
    public let identifier: String
    /// Until when APNs keeps it for a device that is offline.
    public let expiration: PushExpiration
    /// Without the app's topic and the moment of expiration, which are known when it is sent.
    private let content: PushContent
    /// Whether it starts a Live Activity, which a broadcast cannot do.
    let startsLiveActivity: Bool

    /// Builds a message.
    ///
    /// - Parameters:
    ///   - items: what it says; of two of the same kind the later counts.
    ///   - kind: the kind; decided from the items if nil.
    ///   - urgency: the urgency; decided from the kind if nil.
    ///   - expiration: until when APNs keeps it.
    ///   - collapseID: messages with the same identifier replace each other on the device; at most 64 bytes.
    ///   - identifier: what names the message; nil draws one.
    /// - Throws: `PushError` (`messageInvalid`) if a value of your own cannot be encoded as JSON, if the payload is too
    ///   large (4,096 bytes, 5,120 for `voip`), or if Apple's rules for the kind are broken; it says what would be
    ///   right.
    public init(
        _ items: [PushItem], kind: PushKind? = nil, urgency: PushUrgency? = nil, expiration: PushExpiration = .none,
        collapseID: String? = nil, identifier: String? = nil
    ) throws(PushError) {
        var notification = Notifications.Notification()
        for item in items { try notification.add(item) }
        let options = PushOptions(
            pushType: kind?.pushType, priority: urgency?.priority,
            expirationSeconds: try expiration.headerSeconds(), collapseID: collapseID)
        // The topic of an app begins with its bundle identifier; here it is the suffix alone.
        var builder = PushContentBuilder(bundleID: "")
        do throws(EventRejection) {
            content = try builder.content(of: notification, options: options)
        } catch { throw PushError(error) }
        startsLiveActivity = notification.liveActivityEvent == .start
        self.expiration = expiration
        self.identifier = identifier ?? Self.randomIdentifier()
    }

    /// The kind that was given, or decided from the items.
    public var kind: PushKind? { PushKind(rawValue: content.pushType.rawValue) }

    /// The content of a push of one app, with the expiration as of now.
    ///
    /// - Throws: `PushError` (`messageInvalid`) if the expiration cannot be written any more.
    func content(bundleID: String) throws(PushError) -> PushContent {
        PushContent(
            payload: content.payload, topic: bundleID + content.topic, pushType: content.pushType,
            priority: content.priority, expirationSeconds: try expiration.headerSeconds(),
            collapseID: content.collapseID)
    }

    private static func randomIdentifier() -> String {
        APNsIdentifier(high: .random(in: .min ... .max), low: .random(in: .min ... .max)).description
    }
}
