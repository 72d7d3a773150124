import PostgreSQL
import PushTestKit
import RegistryCore
import Testing

@testable import PostgresRegistry

/// Tests of the cost of finding the silent subscriptions of a device that cover others.
struct CoveringCostTests {
    private static func subscriptions(_ names: [String]) -> [RecordSubscription] {
        names.map { name in
            RecordSubscription(
                key: SubscriptionKey(app: "chat", owner: .user("anna"), subscriptionID: name), recordType: "Song",
                savedAtMilliseconds: 1)
        }
    }

    /// How many rows of subscriptions the server has read since the transaction began.
    private static func rowsRead(_ registry: PostgresRegistry) throws -> Int {
        let call = Call(
            """
            SELECT (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::bigint FROM pg_stat_xact_user_tables
            WHERE relid = '\(Schema.name).subscription'::regclass
            """)
        return Int(try registry.ask([call])[0].integer(0, 0))
    }

    @Test("The server reads a user's silent subscriptions once for a page, however many devices and entries it has")
    func readsOnce() async throws {
        try await Fixture.withRegistry { registry in
            try registry.upsert(
                try (0..<5).map { number in
                    var device = try Fixture.device(number)
                    device.userID = "anna"
                    return device
                })
            let rows = try registry.save(Self.subscriptions((0..<600).map { "s\($0)" }))
            let deadline = Deadline(milliseconds: 60_000)
            try registry.connection.execute("BEGIN", deadline)
            var request = SubscriberRequest(subscriptions: rows)
            var pageCount = 0
            var pushes: Set<String> = []
            repeat {
                let page = try registry.resolveSubscribers([request], limit: 250)[0]
                pushes.formUnion(
                    page.entries.filter { $0.coveredBy == nil }.map { entry in
                        "\(page.subscriptions[entry.subscription].row) \(entry.recipient.deviceID)"
                    })
                pageCount += 1
                request.cursor = page.next
            } while request.cursor != nil
            let rowsRead = try Self.rowsRead(registry)
            try registry.connection.execute("ROLLBACK", deadline)
            #expect(pushes == Set((0..<5).map { "\(rows[0]) device-\($0)" }))
            #expect(pageCount == 12)
            // For each page: 257 to find devices, the 50 it shows, and all 600 to find what covers them.
            #expect(rowsRead < pageCount * 2 * rows.count, "\(rowsRead) rows were read")
        }
    }
}
