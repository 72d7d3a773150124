import ChangeEvents
import Notifications
import RegistryCore

extension RegistryConformance {
    static let deviceChecks = [
        RegistryConformance("An empty registry has no device") { registry in
            try expect(try registry.deviceCount(), is: 0, "count")
            try expect(try registry.device("a"), is: nil, "device")
            try expect(try registry.removeDevice("a"), is: false, "removal")
            try expect(try registry.devices(matching: DeviceFilter(), after: nil, limit: 10), is: [], "list")
            try registry.upsert([])
            try expect(try registry.resolve([], limit: 10), is: [], "answers to no request")
        },
        RegistryConformance("A device comes back with every value that it was registered with") { registry in
            var devices: [Device] = []
            for (index, count) in [1, 32, 100, 256].enumerated() {
                for platform in Platform.allCases where !platform.hasTextTokens {
                    var device = try device(
                        "\(platform) \(count) ü\u{1F426}", token: Array(repeating: UInt8(index), count: count),
                        app: "app-\(platform)", user: count == 32 ? nil : "user \(count)", registeredAt: .max - 1)
                    device.platform = platform
                    devices.append(device)
                }
            }
            devices.append(try device("alone", identity: nil, registeredAt: -5))
            try registry.upsert(devices)
            for device in devices {
                try expect(try registry.device(device.deviceID), is: device, "device")
            }
            try expect(try registry.deviceCount(), is: devices.count, "count")
        },
        RegistryConformance("A name with a NUL is refused, and nothing is found by it") { registry in
            try registry.upsert([try device("a"), try device("ab")])
            for bad in [
                try device("a\0"), try device("c", app: "a\0b"), try device("c", identity: "\0"),
                try device("c", user: "\0u"),
            ] {
                try expect(.invalid, "\(bad)") { try registry.upsert([bad]) }
            }
            try expect(.invalid, "topic") { try registry.subscribe("a", toTopic: "t\0") }
            try expect(.notFound, "device") { try registry.subscribe("a\0", toTopic: "t") }
            try expect(try registry.device("a\0"), is: nil, "device")
            try expect(try registry.removeDevice("a\0"), is: false, "removal")
            try expect(try found(.devices(["a\0", "a"], app: "chat"), in: registry), is: ["a"], "devices")
            try expect(try found(.users(["u\0"], app: "chat"), in: registry), is: [], "users")
            let list = try registry.devices(matching: DeviceFilter(), after: "a\0", limit: 9)
            try expect(list.map(\.deviceID), is: ["ab"], "list")
        },
        RegistryConformance("Removal takes a device and its subscriptions") { registry in
            try registry.upsert([try device("a"), try device("b")])
            try registry.subscribe("a", toDataset: "settings")
            try registry.subscribe("a", toTopic: "news")
            try expect(try registry.removeDevice("a"), is: true, "removal")
            try expect(try registry.removeDevice("a"), is: false, "second removal")
            try expect(try registry.device("a"), is: nil, "device")
            try registry.upsert([try device("a")])
            try expect(try registry.datasetSubscriptions(of: "a").datasetNames, is: [], "datasets")
            try expect(try found(.dataset(dataset("settings")), in: registry), is: [], "dataset audience")
            try expect(try found(.topic("news", app: "chat"), in: registry), is: [], "topic audience")
        },
        RegistryConformance("The list is in the order of the identifiers, filtered and in pages") { registry in
            try registry.upsert([
                try device("c", app: "chat", identity: "i:1", user: "u1"),
                try device("a", app: "chat", identity: "i:2", user: "u1"),
                try device("B", app: "mail", identity: "i:1", user: "u2"),
                try device("ä", app: "mail", identity: nil, user: nil),
            ])
            func list(_ filter: DeviceFilter, after: String? = nil, limit: Int = 10) throws -> [String] {
                try registry.devices(matching: filter, after: after, limit: limit).map(\.deviceID)
            }
            try expect(try list(DeviceFilter()), is: ["B", "a", "c", "ä"], "all")
            try expect(try list(DeviceFilter(), limit: 2), is: ["B", "a"], "first page")
            try expect(try list(DeviceFilter(), after: "a", limit: 2), is: ["c", "ä"], "second page")
            try expect(try list(DeviceFilter(), after: "ä", limit: 2), is: [], "page after the last")
            try expect(try list(DeviceFilter(), limit: 0), is: [], "page of none")
            try expect(try list(DeviceFilter(app: "mail")), is: ["B", "ä"], "of an app")
            try expect(try list(DeviceFilter(identityID: "i:1")), is: ["B", "c"], "of an identity")
            try expect(try list(DeviceFilter(userID: "u1")), is: ["a", "c"], "of a user")
            try expect(try list(DeviceFilter(userID: "u1"), after: "a"), is: ["c"], "of a user, second page")
            try expect(try list(DeviceFilter(app: "chat", identityID: "i:1")), is: ["c"], "of app and identity")
            try expect(try list(DeviceFilter(app: "none")), is: [], "of an unknown app")
            try expect(try list(DeviceFilter(identityID: "none")), is: [], "of an unknown identity")
        },
        RegistryConformance("Names that are empty, too long or half given are refused, and nothing is kept") {
            registry in
            let good = try device("good")
            let long = String(repeating: "x", count: 257)
            var bad = [try device("", token: [1]), try device(long, token: [1])]
            bad.append(try device("a", app: ""))
            bad.append(try device("a", identity: long))
            bad.append(try device("a", user: ""))
            var half = try device("a")
            half.identityPoolID = nil
            bad.append(half)
            for device in bad {
                try expect(.invalid, "\(device)") { try registry.upsert([good, device]) }
            }
            try expect(try registry.deviceCount(), is: 0, "count")
            try registry.upsert([try device(String(repeating: "x", count: 256), token: [1])])
        },
        RegistryConformance("A registration brings datasets and topics with it") { registry in
            let first = try device("a")
            try registry.register([DeviceRegistration(device: first, datasetNames: ["b", "a"], topics: ["news"])])
            try registry.register([DeviceRegistration(device: first, datasetNames: ["c", "a"])])
            try expect(try registry.datasetSubscriptions(of: "a").datasetNames, is: ["a", "b", "c"], "datasets")
            try expect(try found(.topic("news", app: "chat"), in: registry), is: ["a"], "topic")
            let alone = try device("alone", identity: nil)
            try expect(.invalid, "datasets without an identity") {
                try registry.register([DeviceRegistration(device: alone, datasetNames: ["a"])])
            }
            try expect(try registry.device("alone"), is: nil, "refused device")
        },
    ]

    static let renewalChecks = [
        RegistryConformance("Renewal replaces the values and keeps the subscriptions") { registry in
            try registry.upsert([try device("a", token: [1], user: "u1")])
            try registry.subscribe("a", toDataset: "settings")
            try registry.subscribe("a", toTopic: "news")
            let renewed = try device("a", token: [2], user: "u2", registeredAt: 2_000)
            try registry.upsert([renewed])
            try expect(try registry.deviceCount(), is: 1, "count")
            try expect(try registry.device("a"), is: renewed, "device")
            try expect(try found(.dataset(dataset("settings")), in: registry), is: ["a"], "dataset")
            try expect(try found(.topic("news", app: "chat"), in: registry), is: ["a"], "topic")
            try expect(try found(.users(["u1"], app: "chat"), in: registry), is: [], "old user")
            try expect(try found(.users(["u2"], app: "chat"), in: registry), is: ["a"], "new user")
        },
        RegistryConformance("A change of identity ends the dataset subscriptions and no others") { registry in
            let changes = [
                try device("a", identity: "identity:2"), try device("a", identity: nil),
                try device("a", pool: "eu-west-1:0"),
            ]
            for changed in changes {
                try registry.upsert([try device("a")])
                try registry.subscribe("a", toDataset: "settings")
                _ = try registry.subscribeToAllDatasets("a", names: nil, includingFuture: true)
                try registry.subscribe("a", toTopic: "news")
                try registry.upsert([changed])
                let none = DatasetSubscriptions(datasetNames: [], includesFuture: false)
                try expect(try registry.datasetSubscriptions(of: "a"), is: none, "datasets")
                try registry.recordDatasets([dataset("later")])
                try expect(try found(.dataset(dataset("settings")), in: registry), is: [], "dataset")
                try expect(try found(.dataset(dataset("later")), in: registry), is: [], "later dataset")
                try expect(try found(.topic("news", app: "chat"), in: registry), is: ["a"], "topic")
                _ = try registry.removeDevice("a")
            }
        },
        RegistryConformance("A change of app ends the topic subscriptions and no others") { registry in
            try registry.upsert([try device("a")])
            try registry.subscribe("a", toDataset: "settings")
            try registry.subscribe("a", toTopic: "news")
            try registry.upsert([try device("a", app: "mail")])
            try expect(try found(.topic("news", app: "chat"), in: registry), is: [], "topic of the old app")
            try expect(try found(.topic("news", app: "mail"), in: registry), is: [], "topic of the new app")
            try expect(try found(.dataset(dataset("settings")), in: registry), is: ["a"], "dataset")
        },
        RegistryConformance("A token belongs to one device of an app: the last that was registered with it") {
            registry in
            try registry.upsert([try device("old", token: [7]), try device("other app", token: [7], app: "mail")])
            try registry.subscribe("old", toDataset: "settings")
            let new = try device("new", token: [7])
            try registry.upsert([new])
            try expect(try registry.device("old"), is: nil, "old device")
            try expect(try registry.device("new"), is: new, "new device")
            try expect(try registry.device("other app")?.app, is: "mail", "device of another app")
            try expect(try found(.dataset(dataset("settings")), in: registry), is: [], "subscription of the old device")
            try registry.upsert([try device("x", token: [8]), try device("y", token: [8])])
            try expect(try registry.device("x"), is: nil, "first of two in one call")
        },
        RegistryConformance("Devices exchange their tokens in one call") { registry in
            try registry.register([
                DeviceRegistration(device: try device("a", token: [1]), topics: ["news"]),
                DeviceRegistration(device: try device("b", token: [2]), topics: ["sport"]),
            ])
            try registry.upsert([
                try device("a", token: [3]), try device("b", token: [1]), try device("a", token: [2]),
            ])
            let devices = try registry.devices(matching: DeviceFilter(), after: nil, limit: 10)
            try expect(devices.map(\.token.bytes), is: [[2], [1]], "the tokens")
            try expect(try found(.topic("news", app: "chat"), in: registry), is: ["a"], "the topic of one")
            try expect(try found(.topic("sport", app: "chat"), in: registry), is: ["b"], "the topic of the other")
        },
        RegistryConformance("A device of another app is refused if devices are to keep their apps") { registry in
            let registration = DeviceRegistration(device: try device("a", app: "mail"), datasetNames: ["s"])
            try expect(try registry.register([registration], keepsApps: true), is: 1, "new devices")
            try expect(try registry.register([registration], keepsApps: true), is: 0, "new devices at the renewal")
            let others = [try device("b"), try device("a")].map { DeviceRegistration(device: $0) }
            try expect(.invalid, "a device of another app") { try registry.register(others, keepsApps: true) }
            try expect(try registry.device("a")?.app, is: "mail", "the app")
            try expect(try registry.deviceCount(), is: 1, "the devices")
            try expect(try registry.register(others, keepsApps: false), is: 1, "new devices")
        },
        RegistryConformance("A batch that is refused teaches no dataset") { registry in
            try registry.upsert([try device("a", app: "mail"), try device("c")])
            let batch = [
                DeviceRegistration(device: try device("b"), datasetNames: ["late"]),
                DeviceRegistration(device: try device("a")),
            ]
            try expect(.invalid, "a device of another app") { try registry.register(batch, keepsApps: true) }
            let names = try registry.subscribeToAllDatasets("c", names: nil, includingFuture: false)
            try expect(names, is: [], "the datasets that are known")
        },
        RegistryConformance("The last of several registrations of a device in one call wins") { registry in
            let last = try device("a", token: [3], registeredAt: 3)
            try registry.upsert([try device("a", token: [1]), try device("a", token: [2]), last])
            try expect(try registry.device("a"), is: last, "device")
            try expect(try registry.deviceCount(), is: 1, "count")
        },
    ]

    static let pruneChecks = [
        RegistryConformance("A dead token is pruned only if it was registered before it was found dead") { registry in
            func prune(since: Int64?, registeredAt: Int64) throws -> Int {
                let device = try device("a", registeredAt: registeredAt)
                try registry.upsert([device])
                let removed = try registry.prune([dead(device, since: since)])
                try expect(try registry.deviceCount(), is: 1 - removed, "count")
                return removed
            }
            try expect(try prune(since: 999, registeredAt: 1_000), is: 0, "registered after")
            try expect(try prune(since: 1_000, registeredAt: 1_000), is: 0, "registered at that moment")
            try expect(try prune(since: 1_001, registeredAt: 1_000), is: 1, "registered before")
            try expect(try prune(since: nil, registeredAt: 1_000), is: 1, "moment not known")
        },
        RegistryConformance("A device that has another token by now is not pruned") { registry in
            let old = try device("a", token: [1])
            try registry.upsert([old])
            try registry.upsert([try device("a", token: [2])])
            try expect(try registry.prune([dead(old)]), is: 0, "removed")
            try expect(try registry.deviceCount(), is: 1, "count")
            try expect(try registry.prune([]), is: 0, "removed of none")
        },
        RegistryConformance("Pruning takes the subscriptions too, and counts each device once") { registry in
            let doomed = try device("a")
            try registry.upsert([doomed, try device("b")])
            try registry.subscribe("a", toDataset: "settings")
            let dead = dead(doomed, since: 5_000)
            try expect(try registry.prune([dead, dead]), is: 1, "removed")
            try expect(try found(.dataset(dataset("settings")), in: registry), is: [], "audience")
        },
        RegistryConformance("What is said about another topic, app or environment removes no device") { registry in
            let device = try device("a")
            try registry.upsert([device])
            var other = dead(device)
            other.app = "mail"
            var elsewhere = dead(device)
            elsewhere.platform = .apnsSandbox
            let topics = TokenKind.further.map { dead(device, kind: $0) }
            try expect(try registry.prune(topics + [other, elsewhere]), is: 0, "removed")
            try expect(try registry.device("a"), is: device, "device")
            try expect(try registry.prune([dead(device)]), is: 1, "removed at the word about its own topic")
        },
    ]

    /// The answer of APNs about a device's token under the topic of a kind.
    static func dead(_ device: Device, kind: TokenKind = .alert, since: Int64? = nil) -> DeadToken {
        DeadToken(
            app: device.app, platform: device.platform, kind: kind, token: device.token, deadSinceMilliseconds: since)
    }
}
