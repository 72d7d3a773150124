/// Some of the devices of some subscriptions, and where the next ones begin.
public struct SubscriberPage: Hashable, Sendable {
    /// A device, and for which of the page's subscriptions.
    public struct Entry: Hashable, Sendable {
        /// The device.
        public var recipient: Recipient
        /// The place of its subscription in `subscriptions`.
        public var subscription: Int

        /// Creates an entry.
        public init(recipient: Recipient, subscription: Int) {
            self.recipient = recipient
            self.subscription = subscription
        }
    }

    /// The subscriptions of this page.
    public var subscriptions: [StoredSubscription]
    /// The devices, in the order of their subscriptions; a device of several subscriptions comes once for each.
    public var entries: [Entry]
    /// Where to go on; nil if these were the last.
    public var next: SubscriberCursor?

    /// Creates a page.
    public init(
        subscriptions: [StoredSubscription] = [], entries: [Entry] = [], next: SubscriberCursor? = nil
    ) {
        self.subscriptions = subscriptions
        self.entries = entries
        self.next = next
    }
}
