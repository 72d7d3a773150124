import PushCore

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
        RegistryConformance("Of a device's thousands of silent subscriptions one pushes") { registry in
            try devices(["d0", "d1"], in: registry)
            try devices(["e0"], user: "ben", in: registry)
            let rows = try registry.save(
                [try subscription(key("once"), firesOnce: true)]
                    + (0..<2_000).map { try subscription(key("q\($0)")) }
                    + [
                        try subscription(key("late"), firesOnce: true), try subscription(key("own", device: "d1")),
                        try subscription(key("own", device: "e0")),
                    ])
            func check(_ concerned: [Int64], pushing row: Int64, limit: Int) throws {
                try RegistryConformance.expect(
                    try pushes(SubscriberRequest(subscriptions: concerned), limit: limit, in: registry),
                    is: ["\(row):d0", "\(row):d1", "\(rows[2_003]):e0"],
                    "the silent pushes of \(concerned.count) subscriptions, \(limit) to a page")
            }
            try check(rows, pushing: rows[1], limit: 250)
            // Between the first and the last that the event concerns lie those of the user that it does not.
            let few = [rows[0]] + rows[1_900...]
            try check(few, pushing: rows[1_900], limit: 100)
            let fewer = [rows[0], rows[1_999]] + rows[2_001...]
            try check(fewer, pushing: rows[1_999], limit: 2)
            let own = [rows[0]] + rows[2_001...]
            try RegistryConformance.expect(
                try pushes(SubscriberRequest(subscriptions: own), limit: 2, in: registry),
                // Nothing covers those that fire once and lie on different pages.
                is: ["\(rows[0]):d0", "\(rows[2_001]):d0", "\(rows[2_002]):d1", "\(rows[2_003]):e0"],
                "the silent pushes of subscriptions that fire once, and of one that a device has itself")
        },
    ]

    /// Saves four subscriptions of Anna, one of Ben, and one of a device.
    ///
    /// Of Anna's, one is visible and the first fires once. She has seven devices, of which one has the silent
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
                let stored = page.subscriptions[entry.subscription]
                if stored.subscription.notification.isVisible {
                    try RegistryConformance.expect(entry.coveredBy, is: nil, "what covers a visible push")
                } else if entry.coveredBy == nil {
                    pushes.insert("\(stored.row):\(entry.recipient.deviceID)")
                }
            }
            guard let next = page.next else { return pushes }
            request.cursor = next
        }
        throw RegistryViolation("the pages do not come to an end")
    }
}
