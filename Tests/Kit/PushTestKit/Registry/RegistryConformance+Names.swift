import ChangeEvents
import Essentials
import RegistryCore

extension RegistryConformance {
    /// The letter é as one scalar and as two: one text to Swift, and two names.
    static let lookalikes = ["\u{e9}", "e\u{301}"]
    private static let controls = ["a\nb", "\u{1}", "\u{1f}x", "x\u{7f}", "\u{80}", "\u{9f}", "a\0b"]

    static let nameChecks = [
        RegistryConformance("Devices whose names differ by their normal form only are two, in the order of bytes") {
            registry in
            let names = lookalikes + ["f"]
            try registry.upsert(try names.map { try device($0) })
            try expect(try registry.deviceCount(), is: 3, "how many there are")
            var listed: [String] = []
            while let next = try registry.devices(matching: DeviceFilter(), after: listed.last, limit: 1).first {
                listed.append(next.deviceID)
                try expect(listed.count <= 3, is: true, "the list goes on")
            }
            try expect(listed, isByBytes: [lookalikes[1], "f", lookalikes[0]], "the list")
            let all = Audience.devices(lookalikes + lookalikes, app: "chat")
            try expect(try found(all, in: registry), isByBytes: lookalikes, "the devices")
            try expect(
                try found(all, in: registry, excluding: lookalikes[0]), isByBytes: [lookalikes[1]], "all but one")
            try expect(
                try found(all, in: registry, only: [lookalikes[1]]), isByBytes: [lookalikes[1]], "only one")
            try expect(try registry.setBadge(3, of: lookalikes[0]), is: true, "the badge of one")
            try expect(try registry.badge(of: lookalikes[1]), is: 0, "the badge of the other")
            let event = EventDigest(source: "test", identifier: "1")
            try expect(
                try registry.countBadges(lookalikes, for: event, isRepeated: false), is: [4, 1], "the badges of both")
            try expect(try registry.removeDevice(lookalikes[0]), is: true, "one is removed")
            try expect(try registry.device(lookalikes[1])?.deviceID, isByBytes: lookalikes[1], "the other")
        },
        RegistryConformance("Users whose names differ by their normal form only are two") { registry in
            try registry.upsert([
                try device("a", identity: nil, user: lookalikes[0]),
                try device("b", identity: nil, user: lookalikes[1]),
            ])
            for (user, name) in zip(lookalikes, ["a", "b"]) {
                let audience = Audience.users([user], app: "chat")
                try expect(try found(audience, in: registry), is: [name], "devices of a user")
                try expect(try found(audience, in: registry, only: ["a", "b"]), is: [name], "among two devices")
                let listed = try registry.devices(matching: DeviceFilter(userID: user), after: nil, limit: 9)
                try expect(listed.map(\.deviceID), is: [name], "the list of a user")
            }
            let both = Audience.users(lookalikes, app: "chat")
            try expect(try found(both, in: registry), is: ["a", "b"], "devices of both")
            try registry.subscribeUser(lookalikes[0], app: "chat", toTopic: "t")
            try expect(try found(.topic("t", app: "chat"), in: registry), is: ["a"], "the topic of one")
            try registry.upsert([try device("a", identity: nil, user: lookalikes[1])])
            try expect(try found(.topic("t", app: "chat"), in: registry), is: [], "the device changed hands")
            try expect(try registry.eraseUser(lookalikes[0]), is: 0, "one has no device any more")
            try expect(try registry.deviceCount(), is: 2, "those of the other stay")
        },
        RegistryConformance("Topics whose names differ by their normal form only are two, in the order of bytes") {
            registry in
            let both = DeviceRegistration(device: try device("both"), topics: lookalikes)
            try registry.register([both, DeviceRegistration(device: try device("one"), topics: [lookalikes[1], "f"])])
            try expect(
                try found(.topic(lookalikes[0], app: "chat"), in: registry), is: ["both"], "devices of a topic")
            try expect(
                try found(.topic(lookalikes[1], app: "chat"), in: registry), is: ["both", "one"], "of the other")
            let counts = try registry.topics(app: "chat", after: nil, limit: 9)
            try expect(counts.map(\.topic), isByBytes: [lookalikes[1], "f", lookalikes[0]], "the list")
            let rest = try registry.topics(app: "chat", after: "f", limit: 9)
            try expect(rest.map(\.topic), isByBytes: [lookalikes[0]], "the rest of the list")
            try expect(try registry.unsubscribe("both", fromTopic: lookalikes[0]), is: true, "one ends")
            try expect(try found(.topic(lookalikes[1], app: "chat"), in: registry), is: ["both", "one"], "one stays")
        },
        RegistryConformance("Subscriptions whose names differ by their normal form only are two") { registry in
            var keys: [SubscriptionKey] = []
            for owner in lookalikes {
                for name in lookalikes { keys.append(SubscriptionConformance.key(name, user: owner)) }
            }
            let types = [0, 1, 0, 1].map { lookalikes[$0] }
            let list = try zip(keys, types).map { try SubscriptionConformance.subscription($0, recordType: $1) }
            try expect(Set(try registry.save(list)).count, is: 4, "rows")
            for subscription in list {
                let stored = try registry.subscription(subscription.key)?.subscription
                try expect(stored, is: subscription, "what is kept")
                try expect(
                    stored?.recordType, isByBytes: subscription.recordType ?? "", "the record type that is kept")
            }
            let counts = try registry.subscriptionCounts()
            try expect(counts.map { $0.recordType ?? "" }, isByBytes: [lookalikes[1], lookalikes[0]], "the types")
            try expect(counts.map(\.count), is: [2, 2], "how many of each")
            let ofOwner = SubscriptionFilter(owner: .user(lookalikes[0]), recordType: lookalikes[1])
            let found = try registry.subscriptions(matching: ofOwner, after: nil, limit: 9)
            try expect(found.map(\.subscription.key), is: [keys[1]], "of one owner and type")
            try expect(try registry.removeSubscription(keys[0]), is: true, "one is removed")
            try expect(try registry.subscription(keys[1]) == nil, is: false, "another stays")
        },
        RegistryConformance("Control characters in names are refused") { registry in
            try registry.upsert([try device("d")])
            for name in controls {
                let what = "the name \(name.debugDescription)"
                try expect(.invalid, what) { try registry.upsert([try device(name)]) }
                try expect(.invalid, what) { try registry.upsert([try device("d", identity: nil, user: name)]) }
                try expect(.invalid, what) { try registry.subscribe("d", toTopic: name) }
                try expect(.invalid, what) {
                    try registry.register([DeviceRegistration(device: try device("d"), topics: [name])])
                }
                try expect(.invalid, what) { try registry.subscribeUser(name, app: "chat", toTopic: "t") }
                try expect(.invalid, what) { try registry.subscribeUser("u", app: "chat", toTopic: name) }
                for key in [SubscriptionConformance.key(name), SubscriptionConformance.key("s", user: name)] {
                    try expect(.invalid, what) {
                        _ = try registry.save([try SubscriptionConformance.subscription(key)])
                    }
                }
                try expect(.invalid, what) {
                    let key = SubscriptionConformance.key("s")
                    _ = try registry.save([try SubscriptionConformance.subscription(key, recordType: name)])
                }
            }
            // A character that only looks like one is allowed.
            try registry.upsert([try device("\u{a0}\u{c2}"), try device("\u{2028}")])
        },
    ]

    private static func expect(_ actual: [String], isByBytes expected: [String], _ what: String) throws {
        try expect(actual.map(ByteText.init), is: expected.map(ByteText.init), what)
    }

    private static func expect(_ actual: String?, isByBytes expected: String, _ what: String) throws {
        try expect(actual.map(ByteText.init), is: ByteText(expected), what)
    }
}
