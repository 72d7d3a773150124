import PushCore

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
