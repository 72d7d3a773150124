import PushCore

extension SubscriptionConformance {
    static let subscriberChecks = [
        RegistryConformance("A user's subscription reaches all devices of the user in the app, a device's its own") {
            registry in
            try devices(["d1", "d2"], in: registry)
            try devices(["d3"], user: "ben", in: registry)
            try registry.upsert([try RegistryConformance.device("d4", app: "mail", user: "anna")])
            let rows = try registry.save([
                try subscription(key("a")), try subscription(key("b", device: "d3")),
                try subscription(key("c", user: "nobody")),
            ])
            let all = SubscriberRequest(subscriptions: rows)
            try RegistryConformance.expect(
                try subscribers(all, in: registry), is: ["\(rows[0]):d1", "\(rows[0]):d2", "\(rows[1]):d3"], "all")
            let others = SubscriberRequest(subscriptions: rows, excludedDeviceID: "d1")
            try RegistryConformance.expect(
                try subscribers(others, in: registry), is: ["\(rows[0]):d2", "\(rows[1]):d3"], "without the origin")
        },
        RegistryConformance("Pages of every size hold each device of each subscription once, in order") {
            registry in
            let names = (0..<23).map { "d\($0)" }
            try devices(names, in: registry)
            try devices(["e1"], user: "ben", in: registry)
            var keys: [SubscriptionKey] = []
            for index in 0..<5 {
                keys.append(key("u\(index)"))
                keys.append(key("d\(index)", device: "d\(index)"))
                keys.append(key("b\(index)", user: "ben"))
            }
            let rows = try registry.save(try keys.map { try subscription($0) })
            let whole = try subscribers(SubscriberRequest(subscriptions: rows), limit: 1_000, in: registry)
            try RegistryConformance.expect(whole.count, is: 5 * (23 + 1 + 1), "all of them")
            try RegistryConformance.expect(Set(whole).count, is: whole.count, "each once")
            for limit in [1, 2, 22, 23, 24, 124, 125, 126] {
                let paged = try subscribers(SubscriberRequest(subscriptions: rows), limit: limit, in: registry)
                try RegistryConformance.expect(paged, is: whole, "\(limit) to a page")
                let others = SubscriberRequest(subscriptions: rows, excludedDeviceID: "d1")
                try RegistryConformance.expect(
                    try subscribers(others, limit: limit, in: registry), is: whole.filter { !$0.hasSuffix(":d1") },
                    "\(limit) to a page, without one that has many subscriptions")
            }
            let batch = try registry.resolveSubscribers(
                [SubscriberRequest(subscriptions: rows), SubscriberRequest(subscriptions: [rows[1]])], limit: 10)
            try RegistryConformance.expect(batch[0].entries.count, is: 10, "the first of a batch")
            try RegistryConformance.expect(batch[1].entries.map(\.recipient.deviceID), is: ["d0"], "the second")
        },
        RegistryConformance("A retry finds those that it names and that are still there") { registry in
            try devices(["d1", "d2", "d3"], in: registry)
            let rows = try registry.save([
                try subscription(key("a")), try subscription(key("b")), try subscription(key("c", device: "d1")),
            ])
            _ = try registry.removeSubscription(key("b"))
            _ = try registry.removeDevice("d3")
            let only = [
                Subscriber(subscription: rows[0], deviceID: "d2"), Subscriber(subscription: rows[1], deviceID: "d1"),
                Subscriber(subscription: rows[0], deviceID: "d3"), Subscriber(subscription: rows[2], deviceID: "d1"),
                Subscriber(subscription: rows[2], deviceID: "d2"), Subscriber(subscription: 9_999, deviceID: "d1"),
            ]
            let found = try subscribers(SubscriberRequest(subscriptions: [], only: only), in: registry)
            try RegistryConformance.expect(found.sorted(), is: ["\(rows[0]):d2", "\(rows[2]):d1"], "found")
        },
    ]
}
