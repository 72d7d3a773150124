import PostgreSQL
public import RegistryCore
import RegistrySQL

extension PostgresRegistry: SubscriptionRegistry {
    /// Saves subscriptions, all or none.
    public func save(_ subscriptions: [RecordSubscription]) throws(RegistryError) -> [Int64] {
        for subscription in subscriptions { try SubscriptionRules.check(subscription) }
        guard !subscriptions.isEmpty else { return [] }
        let last = Self.lastOfEach(subscriptions)
        let devices = last.compactMap { subscription -> (deviceID: String, app: String)? in
            guard case .device(let deviceID) = subscription.key.owner else { return nil }
            return (deviceID, subscription.key.app)
        }
        return try writing(durable: true) { (transaction) throws(RegistryError) in
            let found = try transaction.run([
                StoringCalls.addNames(Self.distinct(last.map(\.key.app)), to: .app),
                SubscriptionCalls.lockDevices(devices),
                SubscriptionCalls.lock(last.map(\.key)), SubscriptionCalls.rows(of: last.map(\.key)),
            ])
            let isThere = Set(found[1].map { Int($0.integer(0)) - 1 })
            for (index, device) in devices.enumerated() where !isThere.contains(index) {
                throw RegistryError.noDevice(device.deviceID)
            }
            let known = Self.rows(found[3])
            let before = Self.before(found[2])
            // One that another server has added between the two would be counted twice.
            guard known.values.allSatisfy({ before[$0] != nil }) else { throw RegistryError.conflict }
            var growth = SubscriptionGrowth()
            for (index, subscription) in last.enumerated() {
                growth.add(subscription, before: known[index].flatMap { before[$0] })
            }
            // One that is added by another at this moment makes the server refuse ours, and then we begin again.
            let answers = try transaction.commit(
                [
                    SubscriptionCalls.renew(known.map { (row: $0.value, subscription: last[$0.key]) }),
                    SubscriptionCalls.add(last.indices.filter { known[$0] == nil }.map { last[$0] }),
                    SubscriptionCalls.rows(of: subscriptions.map(\.key)),
                ] + QuotaCalls.settle(growth, quotas))
            let rows = Self.rows(answers[2])
            return subscriptions.indices.map { rows[$0] ?? 0 }
        }
    }

    /// Rows by their index in the list that was asked for.
    private static func rows(_ rows: Rows) -> [Int: Int64] {
        var found: [Int: Int64] = [:]
        for row in rows { found[Int(row.integer(0)) - 1] = row.integer(1) }
        return found
    }

    /// The state of subscriptions before they are saved again, by their rows.
    private static func before(_ rows: Rows) -> [Int64: SubscriptionGrowth.Known] {
        var found: [Int64: SubscriptionGrowth.Known] = [:]
        for row in rows { found[row.integer(0)] = .init(bytes: row.integer(1), hasFired: row.integer(2) != 0) }
        return found
    }

    /// The subscriptions without those that a later one with the same key replaces.
    private static func lastOfEach(_ subscriptions: [RecordSubscription]) -> [RecordSubscription] {
        var indexOfKey: [[[UInt8]]: Int] = [:]
        var last: [RecordSubscription] = []
        for subscription in subscriptions {
            let key = subscription.key
            let names = [key.app, key.owner.isUser ? "user" : "device", key.owner.name, key.subscriptionID]
            let bytes = names.map { Array($0.utf8) }
            if let index = indexOfKey[bytes] {
                last[index] = subscription
            } else {
                indexOfKey[bytes] = last.count
                last.append(subscription)
            }
        }
        return last
    }

    /// Removes a subscription.
    public func removeSubscription(_ key: SubscriptionKey) throws(RegistryError) -> Bool {
        try writing(durable: true) { (transaction) throws(RegistryError) in
            let found = try transaction.run([SubscriptionCalls.rows(of: [key])])[0]
            guard let row = found.first else { return false }
            // One that has fired its only push was gone already, as far as anyone could see.
            let call = Call(
                "DELETE FROM apus.subscription WHERE id = $1::bigint RETURNING fired_event IS NULL",
                [.integer(row.integer(1))])
            return try transaction.commit([call])[0].first?.integer(0) == 1
        }
    }

    /// One subscription, or nil.
    public func subscription(_ key: SubscriptionKey) throws(RegistryError) -> StoredSubscription? {
        try ask([SubscriptionCalls.named([key])])[0].first.map(wholeSubscription)
    }

    /// Reads a row of `SubscriptionCalls.wholeColumns`.
    func wholeSubscription(_ row: Row) throws(RegistryError) -> StoredSubscription {
        try decoder.whole(row, app: row.text(1))
    }

    /// Subscriptions in the order of their rows.
    public func subscriptionPage(
        matching filter: SubscriptionFilter, after row: Int64?, limit: Int
    ) throws(RegistryError) -> SubscriptionPage {
        let limit = max(limit, 1)
        // One more tells whether there is another page.
        let asked = limit == .max ? limit : limit + 1
        let rows = try ask([SubscriptionCalls.list(filter, after: row ?? 0, limit: asked)])[0]
        var page = SubscriptionPage(subscriptions: try rows.prefix(limit).map(wholeSubscription), next: nil)
        if let first = rows.first, page.subscriptions.count < first.integer(SubscriptionDecoder.wholeColumnCount) {
            page.next = page.subscriptions.last?.row
        }
        return page
    }

    /// How many subscriptions there are, by app and record type.
    public func subscriptionCounts(
        app: String?, after last: SubscriptionCount?, limit: Int
    ) throws(RegistryError) -> [SubscriptionCount] {
        try ask([SubscriptionCalls.counts(app: app, after: last, limit: limit)])[0].map { row in
            SubscriptionCount(app: row.text(0), recordType: row.optionalText(1), count: Int(row.integer(2)))
        }
    }
}
