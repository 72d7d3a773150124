import Glibc
import PostgreSQL
import PushTestKit
import RegistryCore
import Testing

@testable import PostgresRegistry

/// The page of subscriptions that is asked for while the one before it is taken in.
struct PageAheadTests {
    /// An event between two pages.
    enum Disturbance: CaseIterable {
        case none
        /// Something else is asked.
        case question
        /// Something else is written.
        case write
        /// The page is asked for once more, and so is the one after it with another size.
        case repetition
        /// We end the connection.
        case disconnection
        /// The server ends the connection.
        case termination
        /// The page fails.
        case failure
        /// The page fails, and before its failure is read, something else is asked.
        case failureBeforeQuestion
    }

    private let server: PrivatePostgreSQL
    private let database: String
    private let url: String

    init() async throws {
        server = try await PrivatePostgreSQL.shared()
        database = try await server.makeDatabase()
        url = server.url(database: database)
    }

    private func open(callMilliseconds: Int = 120_000) throws -> PostgresRegistry {
        try PostgresRegistry.open(
            url: url, mode: .create, callMilliseconds: callMilliseconds, connectMilliseconds: 60_000)
    }

    private static func subscription(_ name: String, recordType: String = "Song") -> RecordSubscription {
        RecordSubscription(
            key: SubscriptionKey(app: "chat", owner: .user("anna"), subscriptionID: name), recordType: recordType,
            savedAtMilliseconds: 1)
    }

    /// Lets the page that was asked for ahead be the answer to another question.
    private static func replacePage(of registry: PostgresRegistry, by sql: String) throws {
        let ahead = try #require(registry.pageAhead)
        _ = try registry.deviceCount()
        try registry.connection.begin([Call(sql)])
        registry.pageAhead = ahead
    }

    /// Of what lies behind and before a reader something changes, something goes, and something comes.
    private static func change(_ registry: PostgresRegistry, _ step: Int) throws {
        _ = try registry.save([
            subscription("s\(step)", recordType: "Album"), subscription("s\(22 - step)", recordType: "Film"),
            subscription("new-\(step)"),
        ])
        _ = try registry.removeSubscription(subscription("s\((step * 7) % 23)").key)
    }

    private func disturb(_ disturbance: Disturbance, _ registry: PostgresRegistry, _ step: Int) async throws {
        switch disturbance {
        case .none: break
        case .question: #expect(try registry.deviceCount() == 0)
        case .write: _ = try registry.save([Self.subscription("own-\(step)")])
        case .repetition:
            let cursor = try #require(registry.pageAhead).cursor
            let page = try registry.subscriptionChanges(after: cursor, limit: 2)
            #expect(try registry.subscriptionChanges(after: cursor, limit: 2) == page)
            _ = try registry.subscriptionChanges(after: page.next, limit: 5)
        case .disconnection: registry.disconnect()
        case .termination:
            let ended = try await server.run(
                """
                SELECT bool_and(pg_terminate_backend(pid, 60000)) FROM pg_stat_activity
                WHERE datname = '\(database)' AND application_name = 'apus'
                """, database: "postgres")
            // None is left if the end of the last one has not been noticed yet, because its page had come before.
            #expect(ended == "t" || ended.isEmpty)
        case .failure, .failureBeforeQuestion:
            try Self.replacePage(of: registry, by: "SELECT 1 / 0")
            if disturbance == .failureBeforeQuestion { #expect(try registry.deviceCount() == 0) }
        }
    }

    @Test(
        "Whatever comes between two pages, and whichever session writes meanwhile, all is known at the end",
        arguments: Disturbance.allCases)
    func missesNothing(_ disturbance: Disturbance) async throws {
        let writer = try open()
        let registry = try open()
        _ = try writer.save((0..<23).map { Self.subscription("s\($0)") })
        var known: [Int64: FollowedSubscription] = [:]
        var cursor: SubscriptionCursor?
        var isCaughtUp = false
        var step = 0
        while !isCaughtUp {
            let changes = try registry.subscriptionChanges(after: cursor, limit: 3)
            #expect(!changes.startsOver)
            for change in changes.changes {
                switch change {
                case .saved(let subscription): known[subscription.row] = subscription
                case .removed(let row): known[row] = nil
                }
            }
            cursor = changes.next
            isCaughtUp = changes.isCaughtUp
            guard changes.next.loadingAfterRow != nil else { continue }
            #expect(registry.pageAhead?.cursor == cursor)
            if step < 9 { try Self.change(writer, step) }
            try await disturb(disturbance, registry, step)
            step += 1
        }
        #expect(step >= 7)
        let all = try writer.subscriptions(matching: SubscriptionFilter(), after: nil, limit: 1_000)
        #expect(known == Dictionary(uniqueKeysWithValues: all.map { ($0.row, FollowedSubscription($0)) }))
    }

    @Test(
        "A server that stops answering while a page is under way costs one deadline, and the page comes from the next")
    func hangs() async throws {
        let registry = try open(callMilliseconds: 500)
        _ = try registry.save((0..<8).map { Self.subscription("s\($0)") })
        let first = try registry.subscriptionChanges(after: nil, limit: 3)
        let backend = try await server.backend(of: database)
        _ = try registry.deviceCount()
        kill(backend, SIGSTOP)
        defer { kill(backend, SIGCONT) }
        try registry.connection.begin([Call("SELECT 1")])
        registry.pageAhead = (first.next, 3)
        let error = #expect(throws: RegistryError.self) {
            _ = try registry.subscriptionChanges(after: first.next, limit: 3)
        }
        #expect(error?.code == .unavailable)
        #expect(error?.message.contains("500 ms") == true)
        let second = try registry.subscriptionChanges(after: first.next, limit: 3)
        #expect(second.changes.count == 3)
        #expect(try registry.subscriptionChanges(after: second.next, limit: 3).changes.count == 2)
    }
}
