import ChangeEvents
import PostgresRegistry
import PushTestKit
import RegistryCore
import RegistrySQL
import Testing

/// Several connections that save, follow and claim subscriptions to records at the same time.
struct SubscriptionConcurrencyTests {
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

    private static func subscription(_ identifier: String, user: String = "anna") -> RecordSubscription {
        RecordSubscription(
            key: SubscriptionKey(app: "chat", owner: .user(user), subscriptionID: identifier), recordType: "Song",
            firesOnce: true, savedAtMilliseconds: 1)
    }

    @Test("Whatever was committed before a step is known when the step has caught up, however many write")
    func followsWriters() async throws {
        let url = url
        let writers = 3
        let committed = Watched<(rows: Set<Int64>, finished: Int)>((rows: [], finished: 0))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<writers {
                group.addTask {
                    let registry = try Self.open(url)
                    for step in 0..<60 {
                        let names = (0..<3).map { "\(writer)-\(step)-\($0)" }
                        let rows = try registry.save(names.map { Self.subscription($0) })
                        committed.update { $0.rows.formUnion(rows) }
                    }
                    committed.update { $0.finished += 1 }
                }
            }
            group.addTask {
                let registry = try Self.open(url)
                var known: Set<Int64> = []
                var cursor: SubscriptionCursor?
                var isLast = false
                while !isLast {
                    let (before, finished) = committed.value
                    isLast = finished == writers
                    var isCaughtUp = false
                    while !isCaughtUp {
                        let step = try registry.subscriptionChanges(after: cursor, limit: 7)
                        #expect(!step.startsOver)
                        for case .saved(let subscription) in step.changes { known.insert(subscription.row) }
                        cursor = step.next
                        isCaughtUp = step.isCaughtUp
                    }
                    #expect(before.isSubset(of: known), "\(before.subtracting(known)) were missed")
                }
                #expect(known.count == writers * 60 * 3)
            }
            try await group.waitForAll()
        }
    }

    @Test("A subscription that fires once is claimed by one event, however many try at the same moment")
    func claimsOnce() async throws {
        let url = url
        let rows = try Self.open(url).save((0..<40).map { Self.subscription("\($0)") })
        let claims = Watched<[[Int64]]>([])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<4 {
                group.addTask {
                    let event = EventDigest(source: "/test", identifier: "\(number)")
                    var generator = SeededGenerator(seed: UInt64(number))
                    let registry = try Self.open(url)
                    var claimed: [Int64] = []
                    for _ in 0..<10 {
                        let some = Array(rows.shuffled(using: &generator).prefix(15))
                        claimed += try registry.claim(some, for: event, nowMilliseconds: 1)
                    }
                    let own = try registry.claimedSubscriptions(of: event)
                    #expect(Set(claimed) == Set(own))
                    claims.update { $0.append(own) }
                }
            }
            try await group.waitForAll()
        }
        let all = claims.value.flatMap { $0 }
        #expect(Set(all).count == all.count)
    }

    @Test("Saving the same subscriptions at the same moment gives them one row each")
    func savesTogether() async throws {
        let url = url
        let results = Watched<[[Int64]]>([])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let registry = try Self.open(url)
                    let rows = try registry.save((0..<30).map { Self.subscription("\($0)") })
                    results.update { $0.append(rows) }
                }
            }
            try await group.waitForAll()
        }
        #expect(Set(results.value).count == 1)
        #expect(try Self.open(url).subscriptions(matching: SubscriptionFilter(), after: nil, limit: 100).count == 30)
    }

    @Test("Users, their devices and their topics fit together, whichever sessions change them at the same moment")
    func fightsForTopics() async throws {
        let url = url
        let seed = UInt64.random(in: 0 ... .max)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    var generator = SeededGenerator(seed: seed &+ UInt64(writer))
                    let registry = try Self.open(url)
                    for _ in 0..<80 { try Self.fight(registry, &generator) }
                }
            }
            try await group.waitForAll()
        }
        let wrong = try await server.run(
            """
            WITH wished AS (
                SELECT x.topic, d.id FROM apus.topic_user x JOIN apus.topic t ON t.id = x.topic
                JOIN apus.device d ON d.user_id = x.user_id AND d.app = t.app),
            had AS (SELECT topic, device FROM apus.topic_subscription WHERE source & 2 <> 0)
            SELECT (SELECT count(*) FROM (TABLE wished EXCEPT TABLE had) x)
                + (SELECT count(*) FROM (TABLE had EXCEPT TABLE wished) x)
            """, database: database)
        #expect(wrong == "0", "seed \(seed)")
    }

    private static func fight(_ registry: PostgresRegistry, _ generator: inout SeededGenerator) throws {
        let number = Int.random(in: 0..<6, using: &generator)
        let user = "user-\(Int.random(in: 0..<3, using: &generator))"
        let topic = "topic-\(Int.random(in: 0..<4, using: &generator))"
        let app = Int.random(in: 0..<2, using: &generator) == 0 ? "chat" : "mail"
        switch Int.random(in: 0..<6, using: &generator) {
        case 0, 1, 2:
            var device = try Fixture.device(number)
            device.app = app
            device.userID = user
            try registry.upsert([device])
        case 3, 4: try registry.subscribeUser(user, app: app, toTopic: topic)
        default: _ = try registry.unsubscribeUser(user, app: app, fromTopic: topic)
        }
    }
}
