public import Essentials

/// One question to the registry: the devices of some subscriptions, or those among them that are still to be served.
public struct SubscriberRequest: Hashable, Sendable {
    /// The rows of the subscriptions, in ascending order, each once; those before `cursor` and behind `through` have no
    /// devices to be found, but may cover some.
    public var subscriptions: [Int64]
    /// If given, only these subscribers, for a retry.
    public var only: [Subscriber]?
    /// The device that made the change and is left out.
    public var excludedDeviceID: String?
    /// Where the last page ended; nil for the first.
    public var cursor: AudienceCursor?
    /// The last position that is asked for; nil for the end.
    public var through: AudienceCursor?
    /// If given, only devices that were their owner's before the fan-out of this number began.
    public var asOfFanOut: Int64?

    /// Creates a request for the first page, unless told otherwise.
    public init(
        subscriptions: [Int64], only: [Subscriber]? = nil, excludedDeviceID: String? = nil,
        cursor: AudienceCursor? = nil, through: AudienceCursor? = nil, asOfFanOut: Int64? = nil
    ) {
        self.subscriptions = subscriptions
        self.only = only
        self.excludedDeviceID = excludedDeviceID
        self.cursor = cursor
        self.through = through
        self.asOfFanOut = asOfFanOut
    }

    /// Whether a subscription is among those asked for.
    func concerns(_ row: Int64) -> Bool {
        var range = subscriptions[...]
        while let first = range.first {
            let middle = range.startIndex + range.count / 2
            if subscriptions[middle] == row { return true }
            if first > row { return false }
            range = subscriptions[middle] < row ? range[(middle + 1)...] : range[..<middle]
        }
        return false
    }
}

/// Some of the devices of some subscriptions, and where the next ones begin.
public struct SubscriberPage: Hashable, Sendable {
    /// A device, and the indices of its subscriptions in the page.
    public struct Entry: Hashable, Sendable {
        /// The device.
        public var recipient: Recipient
        /// The index of its subscription in `subscriptions`.
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
    public var subscriptions: [PushedSubscription]
    /// The devices, in the order of their subscriptions; a device of several subscriptions comes once for each.
    public var entries: [Entry]
    /// Where to go on; nil if these were the last.
    public var next: AudienceCursor?

    /// Creates a page.
    public init(
        subscriptions: [PushedSubscription] = [], entries: [Entry] = [], next: AudienceCursor? = nil
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
            !subscriptions[entries[index].subscription].notification.isVisible
        }
    }

    /// Marks a silent entry if another subscription of the event pushes to its device.
    ///
    /// Among the subscriptions that fire always, the one of the lowest row pushes, on any page. One that fires once
    /// gives way to any of them, but no other gives way to it: another event may have claimed it meanwhile.
    ///
    /// - Parameters:
    ///   - index: the index of the entry.
    ///   - silent: the rows of the silent subscriptions of its device that fire always.
    ///   - request: the request that this page answers; its subscriptions are those that the event concerns.
    public mutating func cover(_ index: Int, by silent: [Int64], of request: SubscriberRequest) {
        let own = subscriptions[entries[index].subscription]
        entries[index].coveredBy =
            silent.filter { other in
                other != own.row && (other < own.row || own.firesOnce) && request.concerns(other)
            }.min()
    }
}

/// A device of the owner of a subscription, by the numbers and names that outlast a restart.
public struct Subscriber: Hashable, Sendable {
    /// The row of the subscription.
    public var subscription: Int64
    /// The identifier of the device.
    @ByBytes public var deviceID: String

    /// Creates a subscriber.
    public init(subscription: Int64, deviceID: String) {
        self.subscription = subscription
        self.deviceID = deviceID
    }

    /// How a requeued message names it: the row, a colon, the device.
    public var retryName: String { "\(subscription):\(deviceID)" }

    /// Reads the name in a requeued message; nil if it is none.
    public init?(retryName: String) {
        guard let colon = retryName.utf8.firstIndex(of: UInt8(ascii: ":")),
            let subscription = Int64(retryName[..<colon])
        else { return nil }
        self.init(subscription: subscription, deviceID: String(retryName[retryName.utf8.index(after: colon)...]))
    }
}
