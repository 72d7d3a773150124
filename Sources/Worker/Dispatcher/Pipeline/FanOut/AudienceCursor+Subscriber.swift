import PushCore

extension AudienceCursor {
    /// A position among subscribers.
    init(_ cursor: SubscriberCursor) {
        self.init(position: cursor.device, subscription: cursor.subscription)
    }
}
