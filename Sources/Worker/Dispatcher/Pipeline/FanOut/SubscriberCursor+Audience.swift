import PushCore

extension SubscriberCursor {
    /// A position of an audience of subscriptions.
    init(_ cursor: AudienceCursor) {
        self.init(subscription: cursor.subscription, device: cursor.position)
    }
}
