import PushCore

extension QuotaConformance {
    private static func save(_ keys: SubscriptionKey..., title: String? = nil, in registry: any Store) throws {
        _ = try registry.save(
            try keys.map { try SubscriptionConformance.subscription($0, title: title) })
    }

    private static func key(_ identifier: String, user: String = "anna", app: String = "chat") -> SubscriptionKey {
        SubscriptionConformance.key(identifier, user: user, app: app)
    }

    private static func bytes(title: String? = nil) throws -> Int {
        try SubscriptionConformance.subscription(key("s"), title: title).storedBytes
    }

    private static func count(in registry: any Store) throws -> Int {
        try registry.subscriptionCounts().reduce(0) { $0 + $1.count }
    }

    static let subscriptionChecks = [
        QuotaConformance("Each owner has as many subscriptions as the quota says") { registry in
            limit(registry, .subscriptionsPerOwner, to: 2)
            try SubscriptionConformance.devices(["d1"], in: registry)
            try save(key("1"), key("2"), in: registry)
            try expectRefusal(.subscriptionsPerOwner, "a third") { try save(key("3"), in: registry) }
            try expectRefusal(.subscriptionsPerOwner, "one of a batch that may be replaced and one that is new") {
                try save(key("1"), key("3"), key("4", user: "ben"), in: registry)
            }
            try RegistryConformance.expect(try count(in: registry), is: 2, "what is kept of refused batches")
            try save(key("1"), key("2"), title: "longer than before", in: registry)
            try save(key("1", user: "ben"), key("2", user: "ben"), key("1", app: "mail"), in: registry)
            let device = SubscriptionConformance.key("1", device: "d1")
            try save(device, SubscriptionConformance.key("2", device: "d1"), in: registry)
            try expectRefusal(.subscriptionsPerOwner, "a third of a device") {
                try save(SubscriptionConformance.key("3", device: "d1"), in: registry)
            }
            _ = try registry.removeSubscription(key("1"))
            try save(key("3"), in: registry)
        },
        QuotaConformance("What exceeds a lowered quota stays, and is replaced by what is not larger") { registry in
            try save(key("1"), key("2"), key("3"), title: "a title", in: registry)
            registry.quotas = RegistryQuotas(limits: [.subscriptionsPerOwner: 2, .subscriptionBytesPerOwner: 10])
            try save(key("1"), title: "a title", in: registry)
            try save(key("2"), title: "another", in: registry)
            try save(key("2"), title: "less", in: registry)
            try expectRefusal(.subscriptionBytesPerOwner, "a larger one") {
                try save(key("2"), title: "more", in: registry)
                try save(key("2"), title: "more than before", in: registry)
            }
            try expectRefusal(.subscriptionsPerOwner, "another") { try save(key("4"), in: registry) }
        },
        QuotaConformance("The bytes of an owner's subscriptions are bounded") { registry in
            let (small, large) = (try bytes(), try bytes(title: "a long title"))
            limit(registry, .subscriptionBytesPerOwner, to: small + large)
            try save(key("1"), key("2"), in: registry)
            try save(key("1"), title: "a long title", in: registry)
            try expectRefusal(.subscriptionBytesPerOwner, "a second large one") {
                try save(key("2"), title: "a long title", in: registry)
            }
            try save(key("2", user: "ben"), title: "a long title", in: registry)
            try save(key("1"), in: registry)
            try save(key("2"), title: "a long title", in: registry)
        },
        QuotaConformance("Subscriptions that have fired their only push do not count for their owner") { registry in
            limit(registry, .subscriptionsPerOwner, to: 1)
            let once = try SubscriptionConformance.subscription(key("1"), firesOnce: true)
            let rows = try registry.save([once])
            try expectRefusal(.subscriptionsPerOwner, "a second") { try save(key("2"), in: registry) }
            let event = EventDigest(source: "s", identifier: "i")
            _ = try registry.claim(rows, for: event, nowMilliseconds: 1_000)
            try save(key("2"), in: registry)
            try expectRefusal(.subscriptionsPerOwner, "the first, which counts again") { _ = try registry.save([once]) }
        },
        QuotaConformance("An app has as many subscriptions as its quota says, whosever they are") { registry in
            limit(registry, .subscriptionsPerApp, to: 2)
            try SubscriptionConformance.devices(["d1"], in: registry)
            try save(key("1"), SubscriptionConformance.key("1", device: "d1"), in: registry)
            try expectRefusal(.subscriptionsPerApp, "a third") { try save(key("1", user: "ben"), in: registry) }
            try save(key("1", app: "mail"), in: registry)
            try save(key("1"), title: "replaced", in: registry)
            _ = try registry.removeDevice("d1")
            try save(key("1", user: "ben"), in: registry)
            try expectRefusal(.subscriptionsPerApp, "a third again") { try save(key("2"), in: registry) }
            _ = try registry.eraseUser("anna")
            try save(key("2", user: "ben"), in: registry)
        },
        QuotaConformance("The bytes of an app's subscriptions are bounded") { registry in
            let (small, large) = (try bytes(), try bytes(title: "a long title"))
            limit(registry, .subscriptionBytesPerApp, to: small + large)
            try save(key("1"), key("1", user: "ben"), in: registry)
            try save(key("1"), title: "a long title", in: registry)
            try expectRefusal(.subscriptionBytesPerApp, "a second large one") {
                try save(key("1", user: "ben"), title: "a long title", in: registry)
            }
            try save(key("1"), in: registry)
            try save(key("1", user: "ben"), title: "a long title", in: registry)
            _ = try registry.removeSubscription(key("1", user: "ben"))
            try save(key("2"), title: "a long title", in: registry)
        },
    ]
}
