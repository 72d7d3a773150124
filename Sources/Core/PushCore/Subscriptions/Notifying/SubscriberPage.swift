/// Some of the devices of some subscriptions, and where the next ones begin.
public struct SubscriberPage: Hashable, Sendable {
    /// A device, and for which of the page's subscriptions.
    public struct Entry: Hashable, Sendable {
        /// The device.
        public var recipient: Recipient
        /// The place of its subscription in `subscriptions`.
        public var subscription: Int
        /// The row of another silent subscription whose push says as much to the device; then this needs none.
        public var coveredBy: Int64?

        /// Creates an entry.
        public init(recipient: Recipient, subscription: Int, coveredBy: Int64? = nil) {
            self.recipient = recipient
            self.subscription = subscription
            self.coveredBy = coveredBy
        }
    }

    /// The subscriptions of this page.
    public var subscriptions: [StoredSubscription]
    /// The devices, in the order of their subscriptions; a device of several subscriptions comes once for each.
    public var entries: [Entry]
    /// Where to go on; nil if these were the last.
    public var next: AudienceCursor?

    /// Creates a page.
    public init(
        subscriptions: [StoredSubscription] = [], entries: [Entry] = [], next: AudienceCursor? = nil
    ) {
        self.subscriptions = subscriptions
        self.entries = entries
        self.next = next
    }

    // MARK: Silent pushes on several pages

    /// The indices of the silent entries whose devices may have others on other pages; none if there is one page only.
    public func entriesToCover(_ request: SubscriberRequest) -> [Int] {
        guard request.only == nil, next != nil || request.cursor != nil || request.through != nil else { return [] }
        return entries.indices.filter { index in
            !subscriptions[entries[index].subscription].subscription.notification.isVisible
        }
    }

    /// Marks a silent entry if another subscription of the event pushes to its device.
    ///
    /// Of the subscriptions that fire always, the one of the lowest row pushes, wherever it lies. One that fires once
    /// gives way to any of them, but no other gives way to it: another event may have claimed it meanwhile.
    ///
    /// - Parameters:
    ///   - index: the index of the entry.
    ///   - silent: the rows of the silent subscriptions of its device that fire always.
    ///   - request: what this page answers; its subscriptions are those that the event concerns.
    public mutating func cover(_ index: Int, by silent: [Int64], of request: SubscriberRequest) {
        let stored = subscriptions[entries[index].subscription]
        entries[index].coveredBy =
            silent.filter { other in
                other != stored.row && (other < stored.row || stored.subscription.firesOnce) && request.concerns(other)
            }.min()
    }
}
