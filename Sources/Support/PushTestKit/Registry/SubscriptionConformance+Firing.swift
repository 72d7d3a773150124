import PushCore

extension SubscriptionConformance {
    private static let first = EventDigest(source: "/test", identifier: "1")
    private static let second = EventDigest(source: "/test", identifier: "2")

    static let firingChecks = [
        RegistryConformance("A subscription that fires once is claimed by one event, which may claim it again") {
            registry in
            try devices(["d1"], in: registry)
            let rows = try registry.save([
                try subscription(key("a"), firesOnce: true), try subscription(key("b"), firesOnce: true),
            ])
            var known: [Int64: FollowedSubscription] = [:]
            let cursor = try follow(registry, &known, from: nil)
            let claimed = try registry.claim([rows[0]], for: first, nowMilliseconds: 1_000)
            try RegistryConformance.expect(claimed, is: [rows[0]], "the first claim")
            let late = try registry.claim(rows, for: second, nowMilliseconds: 1_001)
            try RegistryConformance.expect(late, is: [rows[1]], "the claim of another event")
            let again = try registry.claim(rows, for: first, nowMilliseconds: 1_002)
            try RegistryConformance.expect(again, is: [rows[0]], "the claim of a redelivery")
            try RegistryConformance.expect(
                try registry.claimedSubscriptions(of: first), is: [rows[0]], "what the event has claimed")
            _ = try follow(registry, &known, from: cursor)
            try RegistryConformance.expect(known.isEmpty, is: true, "claimed subscriptions leave the index")
            try RegistryConformance.expect(try registry.subscription(key("a")) == nil, is: true, "and every list")
            let found = try subscribers(SubscriberRequest(subscriptions: [rows[0]]), in: registry)
            try RegistryConformance.expect(found, is: ["\(rows[0]):d1"], "its devices are still found")
            try RegistryConformance.expect(try registry.removeSubscription(key("a")), is: false, "removing it")
        },
        RegistryConformance("Saving a subscription that has fired arms it again") { registry in
            let row = try registry.save([try subscription(key("a"), firesOnce: true)])[0]
            _ = try registry.claim([row], for: first, nowMilliseconds: 1_000)
            try RegistryConformance.expect(
                try registry.save([try subscription(key("a"), firesOnce: true)]), is: [row], "the row")
            try RegistryConformance.expect(
                try registry.claim([row], for: second, nowMilliseconds: 1_001), is: [row], "the next event's claim")
        },
        RegistryConformance("Badges count each event once, and stand still for retries") { registry in
            try devices(["d1", "d2"], in: registry)
            func expect(
                _ devices: [String], _ event: EventDigest, isRepeated: Bool = false, is badges: [Int], _ what: String
            ) throws {
                try RegistryConformance.expect(
                    try registry.countBadges(devices, for: event, isRepeated: isRepeated), is: badges, what)
            }
            try expect(["d1", "d2", "nobody"], first, is: [1, 1, 1], "the first")
            try expect(["d1", "d2"], first, is: [1, 1], "the first, delivered again")
            try expect(["d1", "d1"], second, is: [2, 2], "the next, of two subscriptions")
            try expect(["d1", "d2"], first, is: [2, 1], "the first, delivered again after the next")
            try expect(
                ["d1", "nobody"], EventDigest(source: "/test", identifier: "3"), isRepeated: true, is: [2, 1], "a retry"
            )
            try RegistryConformance.expect(try registry.setBadge(0, of: "d1"), is: true, "the app has shown all")
            try RegistryConformance.expect(try registry.badge(of: "d1"), is: 0, "the badge")
            try RegistryConformance.expect(try registry.badge(of: "nobody"), is: nil, "nobody's badge")
            try RegistryConformance.expect(try registry.setBadge(1, of: "nobody"), is: false, "nobody's badge")
            try RegistryConformance.expect(.invalid, "a negative badge") { _ = try registry.setBadge(-1, of: "d1") }
            try devices(["d2"], in: registry)
            try RegistryConformance.expect(try registry.badge(of: "d2"), is: 1, "a renewed device keeps its badge")
            try expect(["d1"], second, is: [1], "an event that was counted before the app showed it")
        },
        RegistryConformance("A device remembers so many events that have counted on its badge") { registry in
            try devices(["d1"], in: registry)
            let events = (0..<SubscriptionRules.badgeEventsMaximum).map {
                EventDigest(source: "/n", identifier: "\($0)")
            }
            for _ in 0..<2 {
                for event in events { _ = try registry.countBadges(["d1"], for: event, isRepeated: false) }
            }
            try RegistryConformance.expect(try registry.badge(of: "d1"), is: events.count, "the badge")
            _ = try registry.countBadges(["d1"], for: first, isRepeated: false)
            try RegistryConformance.expect(
                try registry.countBadges(["d1"], for: events[1], isRepeated: false), is: [events.count + 1],
                "one that is still remembered")
            try RegistryConformance.expect(
                try registry.countBadges(["d1"], for: events[0], isRepeated: false), is: [events.count + 2],
                "one that is not")
        },
    ]
}
