import RegistryCore

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

extension SubscriptionConformance {
    /// A silent push that is made: subscription and device.
    private typealias Pushes = Set<String>

    static let coveringChecks = [
        RegistryConformance("Of a device's silent subscriptions one pushes, on whatever pages they lie") { registry in
            let rows = try crowd(in: registry)
            let request = SubscriberRequest(subscriptions: rows.all)
            for limit in [1, 2, 3, 5, 8, 13, 29] {
                try RegistryConformance.expect(
                    try pushes(request, limit: limit, in: registry), is: expected(rows.all[1], rows),
                    "the silent pushes, \(limit) to a page")
            }
            let others = SubscriberRequest(subscriptions: rows.all.filter { $0 != rows.all[1] })
            try RegistryConformance.expect(
                try pushes(others, limit: 4, in: registry), is: expected(rows.all[2], rows),
                "the silent pushes without the first subscription")
            _ = try registry.removeSubscription(key("q1"))
            try RegistryConformance.expect(
                try pushes(request, limit: 4, in: registry), is: expected(rows.all[2], rows),
                "the silent pushes when the first subscription is gone")
        },
        RegistryConformance("Of a device's silent subscriptions one pushes, in whatever chunks they lie") { registry in
            let rows = try crowd(in: registry)
            for size in [2, 5, 9, 16] {
                var found: Pushes = []
                var request = SubscriberRequest(subscriptions: rows.all)
                repeat {
                    let page = try registry.resolveSubscribers([request], limit: size)[0]
                    let chunk = SubscriberRequest(
                        subscriptions: FanOutChunk.subscriptions(of: page), cursor: request.cursor, through: page.next)
                    let made = try pushes(chunk, limit: 3, in: registry)
                    try RegistryConformance.expect(found.isDisjoint(with: made), is: true, "chunks do not overlap")
                    found.formUnion(made)
                    request.cursor = page.next
                } while request.cursor != nil
                try RegistryConformance.expect(
                    found, is: expected(rows.all[1], rows), "the silent pushes of chunks of \(size)")
            }
        },
        RegistryConformance("Of a device's thousand silent subscriptions one pushes") { registry in
            try devices(["d0", "d1"], in: registry)
            try devices(["e0"], user: "ben", in: registry)
            let rows = try registry.save(
                [try subscription(key("once"), firesOnce: true)]
                    + (0..<1_000).map { try subscription(key("q\($0)")) }
                    + [
                        try subscription(key("late"), firesOnce: true), try subscription(key("own", device: "d1")),
                        try subscription(key("own", device: "e0")),
                    ])
            func check(_ concerned: [Int64], pushing row: Int64, limit: Int) throws {
                try RegistryConformance.expect(
                    try pushes(SubscriberRequest(subscriptions: concerned), limit: limit, in: registry),
                    is: ["\(row):d0", "\(row):d1", "\(rows[1_003]):e0"],
                    "the silent pushes of \(concerned.count) subscriptions, \(limit) to a page")
            }
            try check(rows, pushing: rows[1], limit: 250)
            // Between the first and the last that the event concerns lie those of the user that it does not.
            let few = [rows[0]] + rows[900...]
            try check(few, pushing: rows[900], limit: 100)
            let fewer = [rows[0], rows[999]] + rows[1_001...]
            try check(fewer, pushing: rows[999], limit: 2)
            let own = [rows[0]] + rows[1_001...]
            try RegistryConformance.expect(
                try pushes(SubscriberRequest(subscriptions: own), limit: 2, in: registry),
                // Subscriptions that fire once and lie on different pages are not covered.
                is: ["\(rows[0]):d0", "\(rows[1_001]):d0", "\(rows[1_002]):d1", "\(rows[1_003]):e0"],
                "the silent pushes of subscriptions that fire once, and of one that a device has itself")
        },
    ]

    /// Saves four subscriptions of Anna, one of Ben, and one of a device.
    ///
    /// One of Anna's is visible, and the first fires once. She has seven devices, of which one has the silent
    /// subscription of its own; Ben has one device.
    private static func crowd(
        in registry: any Registry & SubscriptionRegistry
    ) throws -> (all: [Int64], ben: Int64) {
        try devices((0..<7).map { "d\($0)" }, in: registry)
        try devices(["e1"], user: "ben", in: registry)
        let rows = try registry.save([
            try subscription(key("once"), firesOnce: true), try subscription(key("q1")), try subscription(key("q2")),
            try subscription(key("shown"), title: "Hello"), try subscription(key("own", device: "d2")),
            try subscription(key("b", user: "ben")),
        ])
        return (rows, rows[5])
    }

    private static func expected(_ row: Int64, _ rows: (all: [Int64], ben: Int64)) -> Pushes {
        Set((0..<7).map { "\(row):d\($0)" } + ["\(rows.ben):e1"])
    }

    /// The silent pushes that a request leads to, on all its pages.
    private static func pushes(
        _ request: SubscriberRequest, limit: Int, in registry: any SubscriptionRegistry
    ) throws -> Pushes {
        var request = request
        var pushes: Pushes = []
        for _ in 0..<1_000 {
            let page = try registry.resolveSubscribers([request], limit: limit)[0]
            for entry in page.entries {
                let subscription = page.subscriptions[entry.subscription]
                if subscription.notification.isVisible {
                    try RegistryConformance.expect(entry.coveredBy, is: nil, "what covers a visible push")
                } else if entry.coveredBy == nil {
                    pushes.insert("\(subscription.row):\(entry.recipient.deviceID)")
                }
            }
            guard let next = page.next else { return pushes }
            request.cursor = next
        }
        throw RegistryViolation("the pages do not come to an end")
    }
}
