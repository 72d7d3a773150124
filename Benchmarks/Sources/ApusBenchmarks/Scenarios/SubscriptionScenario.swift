import EventLoop
import Metrics
import Notifications
import PostgresRegistry
import PredicateIndex
import Predicates
import PushTestKit
import RegistryCore
import SQLiteRegistry

/// Subscriptions to records in a registry: saving them, reading them all at a worker's start, and the way of a change
/// through the pipeline when there are many.
struct SubscriptionScenario {
    private static let few = Scale.of(10_000, small: 100)
    private static let many = Scale.of(1_000_000, small: 2_000)
    private static let batch = Scale.of(10_000, small: 500)
    /// How often the many are multiplied within PostgreSQL: ten million in all.
    private static let copies = 9
    private static let rounds = Scale.of(5, small: 1)

    let bench: Workbench
    let report: Report

    func run() async throws {
        try await changeThroughPipeline(Self.few, "subscriptions-few.db", budget: nil)
        try await changeThroughPipeline(Self.many, "subscriptions-many.db", budget: .valueAtMost(15))
        try await followPostgreSQL()
    }

    // MARK: SQLite and the pipeline

    private func changeThroughPipeline(_ count: Int, _ file: String, budget: Budget?) async throws {
        let path = bench.folder + "/" + file
        let registry = try SQLiteRegistry.open(path: path, mode: .create)
        let saved = try save(count, in: registry)
        try registerUsers(in: registry)
        report.add("subscriptions_saved_per_second_sqlite_\(count)", saved, "1/s")
        let load = try follow(registry)
        report.add("subscriptions_read_per_second_sqlite_\(count)", Double(load.rows) / load.seconds, "1/s")
        let scenario = PipelineScenario(bench: bench, report: report)
        let events = (0..<PipelineScenario.events).map { TestEvents.message(Self.event($0 % Self.few)) }
        var microseconds: [Double] = []
        for _ in 0..<Self.rounds {
            microseconds.append(try await scenario.cost(events, pushes: events.count, registry: file).microseconds)
        }
        report.add(
            "cpu_per_push_pipeline_record_\(count)_subscriptions", Median.of(microseconds), "µs", budget: budget)
    }

    /// Each of the first users has a device, so that each event becomes one push.
    private func registerUsers(in registry: SQLiteRegistry) throws {
        let devices = (0..<Self.few).compactMap { index -> Device? in
            guard let token = DeviceToken(bytes: Array("token-\(index)-of-thirty-two-bytes".utf8)) else { return nil }
            return Device(
                deviceID: "device-\(index)", platform: .apns, token: token, app: "chat", userID: "user-\(index)",
                registeredAtMilliseconds: 0)
        }
        try registry.upsert(devices)
    }

    // MARK: PostgreSQL

    private func followPostgreSQL() async throws {
        let server = try await PrivatePostgreSQL.start()
        defer { server.stop() }
        let database = try await server.makeDatabase()
        let url = server.url(database: database)
        let registry = try PostgresRegistry.open(url: url, mode: .create, callMilliseconds: 600_000)
        report.add("subscriptions_saved_per_second_postgresql", try save(Self.many / 10, in: registry), "1/s")
        try await server.run(
            """
            INSERT INTO subscription (app, user_id, subscription_id, kind, database, zone, record_type, predicate,
                fires_on, fires_once, notification, saved_at, is_silent)
            SELECT app, user_id || '-' || n, subscription_id, kind, database, zone, record_type, predicate, fires_on,
                fires_once, notification, saved_at, is_silent
            FROM subscription, generate_series(1, \(Self.copies * 11)) n
            """, database: database)
        let load = try follow(registry)
        report.add("subscriptions_read_per_second_postgresql", Double(load.rows) / load.seconds, "1/s")
        report.add(
            "seconds_to_read_10000000_subscriptions_postgresql", load.seconds * 10_000_000 / Double(load.rows), "s",
            budget: .valueAtMost(60))
        report.add("subscriptions_read_postgresql", Double(load.rows), "")
    }

    // MARK: Steps

    /// Saves subscriptions with different predicates.
    ///
    /// - Returns: how many a second.
    private func save(_ count: Int, in registry: any SubscriptionRegistry) throws -> Double {
        let start = MonotonicClock.nowNanoseconds()
        for first in stride(from: 0, to: count, by: Self.batch) {
            _ = try registry.save(try (first..<min(count, first + Self.batch)).map { try Self.subscription($0) })
        }
        return Double(count) / (Double(MonotonicClock.nowNanoseconds() - start) / 1_000_000_000)
    }

    /// Reads all subscriptions into an index, as a worker does before it consumes.
    private func follow(_ registry: any SubscriptionRegistry) throws -> (rows: Int, seconds: Double) {
        let start = MonotonicClock.nowNanoseconds()
        let index = SubscriptionIndex(hashSeed: 1)
        var cursor: SubscriptionCursor?
        while true {
            let step = try registry.subscriptionChanges(after: cursor, limit: Self.batch)
            for case .saved(let subscription) in step.changes {
                index.insert(
                    subscription.row,
                    scope: MatchScope(application: subscription.app, recordType: subscription.recordType),
                    operations: subscription.firesOn, predicate: subscription.predicate)
            }
            cursor = step.next
            if step.isCaughtUp { break }
        }
        return (index.count, Double(MonotonicClock.nowNanoseconds() - start) / 1_000_000_000)
    }

    private static func subscription(_ index: Int) throws -> RecordSubscription {
        var notification = NotificationInfo()
        notification.alertBody = "{artist}: {title}"
        return RecordSubscription(
            key: SubscriptionKey(app: "chat", owner: .user("user-\(index)"), subscriptionID: "songs"),
            recordType: "Song",
            predicate: try Predicate(parsing: "artist =[n] \"artist-\(index)\" AND price <= 20"),
            firesOn: .created, notification: notification, savedAtMilliseconds: 1_700_000_000_000)
    }

    private static func event(_ index: Int) -> String {
        TestEvents.record(
            "\(index)", name: "song-\(index)",
            fields: #"{"artist":"artist-\#(index)","price":12,"title":"A title","genre":"jazz","seconds":240,"#
                + #""explicit":false}"#)
    }
}
