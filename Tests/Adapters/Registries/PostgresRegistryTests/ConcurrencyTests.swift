import ChangeEvents
import Notifications
import PostgreSQL
import PostgresRegistry
import PushTestKit
import RegistryCore
import RegistrySQL
import Testing

/// Several connections to one registry, as several machines have them.
struct ConcurrencyTests {
    private let server: PrivatePostgreSQL
    private let database: String
    private let url: String

    init() async throws {
        server = try await PrivatePostgreSQL.shared()
        database = try await server.makeDatabase()
        url = server.url(database: database)
    }

    private static func open(_ url: String) throws -> PostgresRegistry {
        try PostgresRegistry.open(url: url, mode: .create, callMilliseconds: 120_000, connectMilliseconds: 60_000)
    }

    @Test("Many may make and open a new registry at the same moment")
    func openTogether() async throws {
        let url = url
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask { try Self.open(url).upsert([try Fixture.device(number)]) }
            }
            try await group.waitForAll()
        }
        #expect(try Self.open(url).deviceCount() == 8)
    }

    @Test("Servers that start at the same moment get one key")
    func keyTogether() async throws {
        let url = url
        let keys = try await withThrowingTaskGroup(of: CourierKey.self) { group in
            for _ in 0..<8 {
                group.addTask { try Self.open(url).courierKey() }
            }
            return try await group.reduce(into: Set<CourierKey>()) { $0.insert($1) }
        }
        #expect(keys.count == 1)
    }

    @Test("Two connections that take turns answer as the in-memory registry does", arguments: 0..<3)
    func takesTurns(_ round: Int) throws {
        let registry = AlternatingRegistry(try Self.open(url), try Self.open(url))
        var walk = RegistryRandomWalk(registry, seed: UInt64.random(in: 0 ... .max))
        try walk.run(steps: 300)
    }

    @Test("Two writers and a reader do not disturb each other")
    func writersAndReader() async throws {
        let url = url
        try Self.open(url).register(try Fixture.registrations(0..<200))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<2 {
                group.addTask {
                    let registry = try Self.open(url)
                    for step in 0..<50 {
                        let start = 1_000 + writer * 1_000 + step * 10
                        try registry.register(try Fixture.registrations(start..<start + 10))
                    }
                }
            }
            group.addTask {
                let registry = try Self.open(url)
                for _ in 0..<50 {
                    let pages = try registry.resolve((0..<200).map { Fixture.request($0) }, limit: 5)
                    #expect(pages.allSatisfy { $0.devices.count == 1 })
                }
            }
            try await group.waitForAll()
        }
        #expect(try Self.open(url).deviceCount() == 1_200)
    }

    @Test("Writers who fight for the same devices, tokens and datasets leave nothing behind that cannot be")
    func fight() async throws {
        let url = url
        let seed = UInt64.random(in: 0 ... .max)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    var generator = SeededGenerator(seed: seed &+ UInt64(writer))
                    let registry = try Self.open(url)
                    for _ in 0..<60 { try Self.fight(registry, &generator) }
                }
            }
            try await group.waitForAll()
        }
        let strays = try await server.run(
            """
            SELECT count(*) FROM apus.dataset_subscription u JOIN apus.device d ON d.id = u.device
            WHERE u.identity IS DISTINCT FROM d.identity
            """, database: database)
        #expect(strays == "0", "seed \(seed)")
        let missed = try await server.run(
            """
            SELECT count(*) FROM apus.dataset_subscription f JOIN apus.device d ON d.id = f.device
            JOIN apus.dataset k ON k.identity = d.identity AND k.identity_pool = d.identity_pool
            WHERE f.dataset_name = 0 AND NOT EXISTS (
                SELECT 1 FROM apus.dataset_subscription u WHERE u.device = d.id AND u.dataset_name = k.dataset_name)
            """, database: database)
        #expect(missed == "0", "seed \(seed)")
    }

    private static func fight(_ registry: PostgresRegistry, _ generator: inout SeededGenerator) throws {
        let name = "device-\(Int.random(in: 0..<6, using: &generator))"
        let dataset = "set-\(Int.random(in: 0..<40, using: &generator))"
        do throws(RegistryError) {
            switch Int.random(in: 0..<6, using: &generator) {
            case 0, 1, 2:
                let registrations = (0..<3).compactMap { _ -> DeviceRegistration? in
                    guard let token = DeviceToken(bytes: [UInt8.random(in: 0..<8, using: &generator)])
                    else { return nil }
                    let device = Device(
                        deviceID: "device-\(Int.random(in: 0..<6, using: &generator))", platform: .apns, token: token,
                        app: "chat", identityPoolID: Fixture.pool,
                        identityID: "identity:\(Int.random(in: 0..<2, using: &generator))",
                        registeredAtMilliseconds: 1)
                    return DeviceRegistration(device: device, datasetNames: [dataset], topics: [dataset])
                }
                try registry.register(registrations)
            case 3: _ = try registry.subscribeToAllDatasets(name, names: nil, includingFuture: true)
            case 4:
                let identity = "identity:\(Int.random(in: 0..<2, using: &generator))"
                try registry.recordDatasets([
                    DatasetKey(identityPoolID: Fixture.pool, identityID: identity, datasetName: dataset)
                ])
            default: try registry.subscribe(name, toDataset: dataset)
            }
        } catch {
            // Another writer may have removed the device.
            guard error.code == .notFound else { throw error }
        }
    }

    @Test("What one connection commits, another sees at its next call, also names that were not there before")
    func seesCommits() throws {
        let writer = try Self.open(url)
        let reader = try Self.open(url)
        #expect(try reader.resolve([Fixture.request(1)], limit: 5)[0].devices.isEmpty)
        try writer.register(try Fixture.registrations(0..<3))
        #expect(try reader.resolve([Fixture.request(1)], limit: 5)[0].devices.count == 1)
        #expect(try writer.removeDevice("device-1"))
        #expect(try reader.resolve([Fixture.request(1)], limit: 5)[0].devices.isEmpty)
    }

    private static func useSubscriptions(_ registry: PostgresRegistry) throws {
        let rows = try registry.save(
            (0..<300).map { number in
                let key = SubscriptionKey(app: "chat", owner: .device("device-\(number)"), subscriptionID: "s")
                return RecordSubscription(key: key, recordType: "Song", savedAtMilliseconds: 1)
            })
        _ = try registry.save([])
        _ = try registry.subscriptionCounts()
        _ = try registry.subscriptionPage(matching: SubscriptionFilter(app: "chat"), after: nil, limit: 10)
        let first = try registry.subscriptionChanges(after: nil, limit: 10)
        _ = try registry.subscriptionChanges(after: first.next, limit: 10)
        _ = try registry.subscriptionChanges(
            after: SubscriptionCursor(logPosition: 290, loadingAfterRow: nil), limit: 10)
        let key = SubscriptionKey(app: "chat", owner: .device("device-1"), subscriptionID: "s")
        _ = try registry.subscription(key)
        let only = [Subscriber(subscription: rows[1], deviceID: "device-1")]
        for request in [
            SubscriberRequest(subscriptions: rows), SubscriberRequest(subscriptions: [], only: only),
        ] { _ = try registry.resolveSubscribers([request], limit: 10) }
        let event = EventDigest(source: "/", identifier: "1")
        _ = try registry.claim(rows, for: event, nowMilliseconds: 1)
        _ = try registry.claimedSubscriptions(of: event)
        _ = try registry.countBadges(
            ["device-1", "device-2"], for: EventDigest(source: "s", identifier: "1"), isRepeated: false)
        try registry.subscribeUser("user", app: "chat", toTopic: "news")
        _ = try registry.unsubscribeUser("user", app: "chat", fromTopic: "news")
        _ = try registry.topics(app: "chat", after: nil, limit: 10)
        _ = try registry.eraseUser("user")
        _ = try registry.eraseIdentity("identity:9")
        _ = try registry.removeDevice("device-8")
    }

    @Test("Whatever is looked up, no table is read from end to end, statistics or not")
    func usesIndexes() async throws {
        do {
            let registry = try Self.open(url)
            try registry.register(try Fixture.registrations(0..<300))
            let devices = try registry.devices(matching: DeviceFilter(), after: nil, limit: 1_000)
            let audiences: [Audience] = [
                .topic("news", app: "chat"), .users(["user"], app: "chat"), .identities(["identity:1"], app: "chat"),
                .devices(devices.map(\.deviceID), app: "chat"), .tokens(devices.map(\.token), app: "chat"),
            ]
            for only in [nil, ["device-1"]] {
                let requests = audiences.map { AudienceRequest(audience: $0, onlyDeviceIDs: only) }
                _ = try registry.resolve(requests + (0..<200).map { Fixture.request($0) }, limit: 10)
            }
            let filter = DeviceFilter(app: "chat", identityID: "identity:1")
            _ = try registry.devices(matching: filter, after: nil, limit: 10)
            _ = try registry.prune([
                DeadToken(
                    app: "chat", platform: .gcm, kind: .alert, token: devices[0].token, deadSinceMilliseconds: nil)
            ])
            try registry.subscribe("device-1", toTopic: "news")
            _ = try registry.unsubscribe("device-1", fromTopic: "news")
            _ = try registry.subscribeToAllDatasets("device-1", names: nil, includingFuture: true)
            try Self.useSubscriptions(registry)
        }
        // The counters are complete when the connection is gone.
        try await eventually("the registry's connections", equals: "0") {
            try await server.run(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = '\(database)' AND application_name = 'apus'",
                database: "postgres")
        }
        let scans = try await server.run(
            """
            SELECT relname FROM pg_stat_user_tables
            WHERE schemaname = 'apus' AND relname <> 'schema_version' AND seq_tup_read > 100
            """, database: database)
        #expect(scans == "")
    }
}
