import PushCore

/// By how much a transaction that saves subscriptions makes apps and owners grow.
struct SubscriptionGrowth {
    /// What an app gets more; negative if it has less than before.
    struct AppGrowth {
        let name: String
        var subscriptions: Int64 = 0
        var bytes: Int64 = 0
    }

    /// What an owner gets more.
    struct OwnerGrowth {
        /// One of the saved subscriptions, which names the owner and the app.
        let key: SubscriptionKey
        var subscriptions: Int64 = 0
        var bytes: Int64 = 0
    }

    /// One element for each app.
    private(set) var apps: [AppGrowth] = []
    private var owners: [OwnerGrowth] = []
    // Names are compared by their bytes, as the database does.
    private var appPlaces: [[UInt8]: Int] = [:]
    private var ownerPlaces: [[[UInt8]]: Int] = [:]

    /// What a subscription was before it is saved again.
    struct Known {
        let bytes: Int64
        /// Whether it has fired its only push, so that it did not count for its owner.
        let hasFired: Bool
    }

    /// Compares what is saved with what is there.
    ///
    /// - Parameters:
    ///   - subscriptions: what is saved, each key once.
    ///   - known: those that are there, by their index.
    init(_ subscriptions: [RecordSubscription], known: [Int: Known]) {
        for (index, subscription) in subscriptions.enumerated() { add(subscription, known[index]) }
    }

    private mutating func add(_ subscription: RecordSubscription, _ known: Known?) {
        let key = subscription.key
        let bytes = Int64(subscription.storedBytes)
        let app = Array(key.app.utf8)
        let appPlace = appPlaces[app] ?? apps.count
        if appPlace == apps.count { apps.append(AppGrowth(name: key.app)) }
        appPlaces[app] = appPlace
        apps[appPlace].subscriptions += known == nil ? 1 : 0
        apps[appPlace].bytes += bytes - (known?.bytes ?? 0)
        let owner = [app, Array((key.owner.isUser ? "user" : "device").utf8), Array(key.owner.name.utf8)]
        let ownerPlace = ownerPlaces[owner] ?? owners.count
        if ownerPlace == owners.count { owners.append(OwnerGrowth(key: key)) }
        ownerPlaces[owner] = ownerPlace
        let owned = known.flatMap { $0.hasFired ? nil : $0 }
        owners[ownerPlace].subscriptions += owned == nil ? 1 : 0
        owners[ownerPlace].bytes += bytes - (owned?.bytes ?? 0)
    }

    /// A key of each owner who grows in a way.
    func owners(_ grows: (OwnerGrowth) -> Bool) -> [SubscriptionKey] { owners.filter(grows).map(\.key) }
}
