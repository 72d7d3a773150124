/// By how much a transaction that saves subscriptions makes apps and owners grow.
public struct SubscriptionGrowth {
    /// The addition; negative for a reduction.
    public struct Amount: Hashable, Sendable {
        /// The number of subscriptions.
        public var subscriptions: Int64 = 0
        /// The bytes of their definitions.
        public var bytes: Int64 = 0
    }

    /// The state of a subscription before it is saved again.
    public struct Known {
        /// The bytes of its definition.
        public let bytes: Int64
        /// Whether it has fired its only push, so that it did not count for its owner.
        let hasFired: Bool

        /// Creates the earlier state of a subscription.
        public init(bytes: Int64, hasFired: Bool) {
            self.bytes = bytes
            self.hasFired = hasFired
        }
    }

    /// The growth of each app.
    public private(set) var apps: [(name: String, amount: Amount)] = []
    /// The growth of each owner, with one of its saved subscriptions, which names the owner and the app.
    public private(set) var owners: [(key: SubscriptionKey, amount: Amount)] = []
    // Names are compared by their bytes, as databases do.
    private var appIndices: [[UInt8]: Int] = [:]
    private var ownerIndices: [[[UInt8]]: Int] = [:]

    /// Nothing yet.
    public init() {}

    /// Counts a subscription that is saved.
    ///
    /// - Parameters:
    ///   - subscription: the subscription.
    ///   - known: its earlier state; nil if it did not exist.
    public mutating func add(_ subscription: RecordSubscription, before known: Known?) {
        let key = subscription.key
        let bytes = Int64(subscription.storedBytes)
        let app = Array(key.app.utf8)
        let appIndex = appIndices[app] ?? apps.count
        if appIndex == apps.count { apps.append((key.app, Amount())) }
        appIndices[app] = appIndex
        apps[appIndex].amount.subscriptions += known == nil ? 1 : 0
        apps[appIndex].amount.bytes += bytes - (known?.bytes ?? 0)
        let owner = [app, Array((key.owner.isUser ? "user" : "device").utf8), Array(key.owner.name.utf8)]
        let ownerIndex = ownerIndices[owner] ?? owners.count
        if ownerIndex == owners.count { owners.append((key, Amount())) }
        ownerIndices[owner] = ownerIndex
        let owned = known.flatMap { $0.hasFired ? nil : $0 }
        owners[ownerIndex].amount.subscriptions += owned == nil ? 1 : 0
        owners[ownerIndex].amount.bytes += bytes - (owned?.bytes ?? 0)
    }
}
