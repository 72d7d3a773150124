import PushCore

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
            // What events make known is not refused.
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
            // What its user has is no wish of the device, until it wishes it as well.
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
