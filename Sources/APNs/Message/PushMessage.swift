internal import PushCore

/// What a push says and how it is sent; the same value can be sent to any number of tokens.
public struct PushMessage: Sendable {
    let notification: PushCore.Notification
    /// The kind; decided from the items if nil.
    public var kind: PushKind?
    /// The urgency; decided from the kind if nil.
    public var urgency: PushUrgency?
    /// Until when APNs keeps it for a device that is offline.
    public var expiration: PushExpiration
    /// Messages with the same identifier replace each other on the device; at most 64 bytes.
    public var collapseID: String?
    /// Names this message: the `apns-id` of each push is derived from it and the token, so that whoever sends the same
    /// message to the same token again, even after a restart, sends the same `apns-id`.
    public var identifier: String

    /// Builds a message.
    ///
    /// - Parameters:
    ///   - items: what it says; of two of the same kind the later counts.
    ///   - kind: the kind; decided from the items if nil.
    ///   - urgency: the urgency; decided from the kind if nil.
    ///   - expiration: until when APNs keeps it.
    ///   - collapseID: what it replaces on the device.
    ///   - identifier: what names the message; nil draws one.
    /// - Throws: `PushError` (`messageInvalid`) if a value of your own cannot be encoded as JSON. Apple's rules are
    ///   checked when the message is sent.
    public init(
        _ items: [PushItem], kind: PushKind? = nil, urgency: PushUrgency? = nil, expiration: PushExpiration = .none,
        collapseID: String? = nil, identifier: String? = nil
    ) throws(PushError) {
        var notification = PushCore.Notification()
        for item in items { try notification.add(item) }
        self.notification = notification
        self.kind = kind
        self.urgency = urgency
        self.expiration = expiration
        self.collapseID = collapseID
        self.identifier = identifier ?? Self.randomIdentifier()
    }

    private static func randomIdentifier() -> String {
        APNsIdentifier(high: .random(in: .min ... .max), low: .random(in: .min ... .max)).description
    }

    var options: PushOptions {
        PushOptions(
            pushType: kind?.pushType, priority: urgency?.priority, expirationSeconds: expiration.headerSeconds,
            collapseID: collapseID)
    }
}
