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

    /// Compares what is saved with what is there.
    ///
    /// - Parameters:
    ///   - subscriptions: what is saved, each key once.
    ///   - knownBytes: what those took before that are there, by their index.
    init(_ subscriptions: [RecordSubscription], knownBytes: [Int: Int64]) {
        for (index, subscription) in subscriptions.enumerated() {
            let known = knownBytes[index]
            add(subscription, known == nil ? 1 : 0, Int64(subscription.storedBytes) - (known ?? 0))
        }
    }

    private mutating func add(_ subscription: RecordSubscription, _ number: Int64, _ bytes: Int64) {
        let key = subscription.key
        let app = Array(key.app.utf8)
        let appPlace = appPlaces[app] ?? apps.count
        if appPlace == apps.count { apps.append(AppGrowth(name: key.app)) }
        appPlaces[app] = appPlace
        apps[appPlace].subscriptions += number
        apps[appPlace].bytes += bytes
        let owner = [app, Array((key.owner.isUser ? "user" : "device").utf8), Array(key.owner.name.utf8)]
        let ownerPlace = ownerPlaces[owner] ?? owners.count
        if ownerPlace == owners.count { owners.append(OwnerGrowth(key: key)) }
        ownerPlaces[owner] = ownerPlace
        owners[ownerPlace].subscriptions += number
        owners[ownerPlace].bytes += bytes
    }

    /// A key of each owner who grows in a way.
    func owners(_ grows: (OwnerGrowth) -> Bool) -> [SubscriptionKey] { owners.filter(grows).map(\.key) }
}
