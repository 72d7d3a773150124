extension AudienceCursor {
    /// A position among subscribers.
    public init(_ cursor: SubscriberCursor) {
        self.init(position: cursor.device, subscription: cursor.subscription)
    }
}

extension SubscriberCursor {
    /// A position of an audience of subscriptions.
    public init(_ cursor: AudienceCursor) {
        self.init(subscription: cursor.subscription, device: cursor.position)
    }
}
