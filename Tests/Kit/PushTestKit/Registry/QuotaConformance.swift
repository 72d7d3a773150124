import ChangeEvents
public import RegistryCore

/// The requirements for every store with quotas, as checks that any test target can run.
///
/// Each check gets a registry of its own that is empty and has no quotas yet.
public struct QuotaConformance: Sendable, CustomStringConvertible {
    /// The ports that such a store has.
    public typealias Store = QuotaRegistry & Registry & RegistryAdministration & SubscriptionRegistry

    /// The required behaviour, as a sentence.
    public let name: String
    /// Throws if the registry does not do it.
    public let check: @Sendable (any Store) throws -> Void

    /// The sentence, so that a parameterised test shows it.
    public var description: String { name }

    init(_ name: String, _ check: @escaping @Sendable (any Store) throws -> Void) {
        self.name = name
        self.check = check
    }

    /// All checks.
    public static let all: [QuotaConformance] = subscriptionChecks + deviceChecks

    /// Does something that must exceed a quota, and changes nothing.
    static func expectRefusal(
        _ quota: RegistryQuota, _ what: String, _ body: () throws -> Void
    ) throws {
        do {
            try body()
        } catch let error as RegistryError where error.code == .quotaExceeded {
            guard error.message.contains("registry.quotas.\(quota.rawValue)") else {
                throw RegistryViolation("\(what): refused for another quota: \(error)")
            }
            return
        }
        throw RegistryViolation("\(what): not refused")
    }

    /// Lets everything else be unlimited.
    static func limit(_ registry: any Store, _ quota: RegistryQuota, to limit: Int) {
        registry.quotas = RegistryQuotas(limits: [quota: limit])
    }
}

extension QuotaConformance {
    private static func register(
        _ name: String, app: String = "chat", identity: String? = nil, user: String? = nil, in registry: any Store
    ) throws {
        try registry.upsert([try RegistryConformance.device(name, app: app, identity: identity, user: user)])
    }

    static let deviceChecks = [
        QuotaConformance("A user and an identity have as many devices in an app as the quota says") { registry in
            limit(registry, .devicesPerOwner, to: 2)
            for name in ["1", "2"] {
                try register("u\(name)", user: "anna", in: registry)
                try register("i\(name)", identity: "identity:1", in: registry)
            }
            try expectRefusal(.devicesPerOwner, "a third of a user") { try register("u3", user: "anna", in: registry) }
            try expectRefusal(.devicesPerOwner, "a third of an identity") {
                try register("i3", identity: "identity:1", in: registry)
            }
            try register("u1", user: "anna", in: registry)
            try register("u3", app: "mail", user: "anna", in: registry)
            try register("u4", user: "ben", in: registry)
            try expectRefusal(.devicesPerOwner, "one that comes from another user") {
                try register("u4", user: "anna", in: registry)
            }
            try expectRefusal(.devicesPerOwner, "one that comes from another app") {
                try register("u3", user: "anna", in: registry)
            }
            try RegistryConformance.expect(try registry.device("u4")?.userID, is: "ben", "the user")
            _ = try registry.removeDevice("u1")
            try register("u4", user: "anna", in: registry)
        },
        QuotaConformance("A device leaves its user, and comes to another, although its identity has too many") {
            registry in
            for name in ["1", "2", "3"] {
                try register(name, identity: "identity:1", user: "anna", in: registry)
            }
            limit(registry, .devicesPerOwner, to: 2)
            try register("1", identity: "identity:1", in: registry)
            try register("2", identity: "identity:1", user: "ben", in: registry)
            try register("3", identity: "identity:2", user: "anna", in: registry)
            try expectRefusal(.devicesPerOwner, "one that comes to such an identity") {
                try register("4", identity: "identity:1", user: "ben", in: registry)
                try register("5", identity: "identity:1", user: "carl", in: registry)
            }
        },
        QuotaConformance("A device subscribes to as many datasets as the quota says, and an identity knows no more") {
            registry in
            limit(registry, .datasetsPerOwner, to: 2)
            for name in ["d1", "d2"] { try register(name, identity: "identity:1", in: registry) }
            try registry.subscribe("d1", toDataset: "a")
            try registry.subscribe("d1", toDataset: "b")
            try registry.subscribe("d1", toDataset: "b")
            try expectRefusal(.datasetsPerOwner, "a third") { try registry.subscribe("d1", toDataset: "c") }
            try expectRefusal(.datasetsPerOwner, "one that the identity does not know") {
                try registry.subscribe("d2", toDataset: "c")
            }
            // Datasets that events make known are not refused.
            try registry.recordDatasets([RegistryConformance.dataset("c")])
            try registry.subscribe("d2", toDataset: "c")
            try expectRefusal(.datasetsPerOwner, "a third that is known") {
                try registry.subscribe("d1", toDataset: "c")
            }
            try expectRefusal(.datasetsPerOwner, "all that are known") {
                _ = try registry.subscribeToAllDatasets("d1", names: nil, includingFuture: true)
            }
            _ = try registry.unsubscribe("d1", fromDataset: "a")
            try registry.subscribe("d1", toDataset: "c")
            try expectRefusal(.datasetsPerOwner, "three that come with a device") {
                try registry.register([
                    DeviceRegistration(
                        device: try RegistryConformance.device("d3", identity: "identity:2"),
                        datasetNames: ["a", "b", "c"])
                ])
            }
            try RegistryConformance.expect(try registry.device("d3"), is: nil, "the device that was refused")
        },
        QuotaConformance("A device wishes as many topics as the quota says, and a user in each app") { registry in
            limit(registry, .topicsPerOwner, to: 2)
            try register("d", user: "anna", in: registry)
            for topic in ["a", "b", "b"] {
                try registry.subscribeUser("anna", app: "chat", toTopic: topic)
                try registry.subscribe("d", toTopic: "own \(topic)")
            }
            try expectRefusal(.topicsPerOwner, "a third of a user") {
                try registry.subscribeUser("anna", app: "chat", toTopic: "c")
            }
            try expectRefusal(.topicsPerOwner, "a third of a device") { try registry.subscribe("d", toTopic: "own c") }
            // A topic of its user is not one of the device, until the device subscribes as well.
            try expectRefusal(.topicsPerOwner, "one that the device has by its user") {
                try registry.subscribe("d", toTopic: "a")
            }
            try registry.subscribeUser("anna", app: "mail", toTopic: "a")
            _ = try registry.unsubscribe("d", fromTopic: "own a")
            try registry.subscribe("d", toTopic: "a")
            _ = try registry.unsubscribeUser("anna", app: "chat", fromTopic: "a")
            try registry.subscribeUser("anna", app: "chat", toTopic: "c")
        },
        QuotaConformance("There are as many tokens for the API as the quota says") { registry in
            limit(registry, .apiTokens, to: 1)
            func save(_ name: String, app: String?) throws {
                try registry.saveToken(
                    APIToken(
                        name: name, digest: Array(name.utf8), app: app, permission: .read, createdAtMilliseconds: 1))
            }
            try save("a", app: nil)
            try save("a", app: "chat")
            try expectRefusal(.apiTokens, "a second") { try save("b", app: nil) }
            try RegistryConformance.expect(try registry.tokens().map(\.app), is: ["chat"], "the tokens")
            _ = try registry.removeToken(named: "a")
            try save("b", app: nil)
        },
    ]
}

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
