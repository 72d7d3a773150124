import ChangeEvents
import RegistryCore

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

extension SubscriptionConformance {
    static let userChecks = [
        RegistryConformance("A user's topic reaches the devices that the user has, gets and loses") { registry in
            try devices(["d1"], in: registry)
            try devices(["d2"], user: "ben", in: registry)
            try registry.subscribeUser("anna", app: "chat", toTopic: "room")
            try registry.subscribeUser("anna", app: "chat", toTopic: "room")
            try registry.subscribe("d2", toTopic: "room")
            try devices(["d3"], in: registry)
            func found() throws -> [String] {
                try RegistryConformance.found(.topic("room", app: "chat"), in: registry).sorted()
            }
            try RegistryConformance.expect(try found(), is: ["d1", "d2", "d3"], "with a new device")
            try devices(["d3"], user: "ben", in: registry)
            try RegistryConformance.expect(try found(), is: ["d1", "d2"], "without a device that was handed on")
            try registry.subscribe("d1", toTopic: "room")
            try RegistryConformance.expect(
                try registry.unsubscribeUser("anna", app: "chat", fromTopic: "room"), is: true, "leaving")
            try RegistryConformance.expect(try found(), is: ["d1", "d2"], "a device's own wish stays")
            try RegistryConformance.expect(
                try registry.unsubscribeUser("anna", app: "chat", fromTopic: "room"), is: false, "leaving again")
            try RegistryConformance.expect(try registry.unsubscribe("d1", fromTopic: "room"), is: true, "d1 leaves")
            try RegistryConformance.expect(try found(), is: ["d2"], "who is left")
        },
        RegistryConformance("Topics are listed with their subscribers, by name") { registry in
            try devices(["d1", "d2"], in: registry)
            try registry.subscribe("d1", toTopic: "b")
            try registry.subscribe("d2", toTopic: "b")
            try registry.subscribeUser("anna", app: "chat", toTopic: "a")
            try registry.subscribeUser("anna", app: "mail", toTopic: "other")
            try registry.subscribe("d1", toTopic: "gone")
            _ = try registry.unsubscribe("d1", fromTopic: "gone")
            let expected = [
                TopicCount(topic: "a", devices: 0, users: 1), TopicCount(topic: "b", devices: 2, users: 0),
            ]
            try RegistryConformance.expect(
                try registry.topics(app: "chat", after: nil, limit: 10), is: expected, "all topics")
            try RegistryConformance.expect(
                try registry.topics(app: "chat", after: "a", limit: 10), is: [expected[1]], "the second page")
        },
        RegistryConformance("Erasing an identity or a user leaves nothing of it") { registry in
            try devices(["d1", "d2"], in: registry)
            try devices(["d3"], user: "ben", in: registry)
            _ = try registry.save([try subscription(key("a")), try subscription(key("b", user: "ben"))])
            try registry.subscribeUser("anna", app: "chat", toTopic: "room")
            try RegistryConformance.expect(try registry.eraseUser("anna"), is: 2, "devices of the user")
            try RegistryConformance.expect(try registry.eraseUser("anna"), is: 0, "once more")
            let left = try registry.subscriptions(matching: SubscriptionFilter(), after: nil, limit: 10)
            try RegistryConformance.expect(left.map(\.subscription.key), is: [key("b", user: "ben")], "what is left")
            try RegistryConformance.expect(try registry.topics(app: "chat", after: nil, limit: 9), is: [], "topics")
            try devices(["d1"], in: registry)
            try RegistryConformance.expect(
                try RegistryConformance.found(.topic("room", app: "chat"), in: registry), is: [], "a new device")
            try registry.subscribe("d3", toDataset: "settings")
            try RegistryConformance.expect(try registry.eraseIdentity("identity:1"), is: 2, "devices of the identity")
            try RegistryConformance.expect(try registry.deviceCount(), is: 0, "devices")
            try RegistryConformance.expect(
                try RegistryConformance.found(.identities(["identity:1"], app: "chat"), in: registry), is: [], "found")
        },
    ]
}
