import PostgreSQL
import PushTestKit
import RegistryCore
import Testing

@testable import PostgresRegistry

/// How the server finds subscriptions among very many, before it has statistics of them.
struct SubscriptionPlanTests {
    private static func plan(_ call: Call, _ registry: PostgresRegistry) throws -> String {
        let rows = try registry.ask([Call("EXPLAIN (COSTS OFF) " + call.sql, call.parameters)])[0]
        return (0..<rows.count).map { rows.text($0, 0) }.joined(separator: "\n")
    }

    @Test("Counts are read from an index alone")
    func counts() async throws {
        try await Fixture.withRegistry { registry in
            for app in [nil, "chat"] {
                let plan = try Self.plan(SubscriptionCalls.counts(app: app, after: nil, limit: 100), registry)
                #expect(plan.contains("Index Only Scan using subscription_by_type on subscription s"), "\(plan)")
            }
        }
    }

    @Test("Neither pages of subscriptions nor what owners have are looked for among all of an app and type")
    func owners() async throws {
        try await Fixture.withRegistry { registry in
            let owners: [SubscriptionOwner?] = [nil, .user("anna"), .device("d")]
            for owner in owners {
                for recordType in [nil, "Song"] {
                    let filter = SubscriptionFilter(app: "chat", owner: owner, recordType: recordType)
                    let plan = try Self.plan(SubscriptionCalls.list(filter, after: 0, limit: 100), registry)
                    #expect(!plan.contains("subscription_by_type"), "\(filter): \(plan)")
                }
            }
            let plan = try Self.plan(SubscriptionCalls.silent([], limit: 9), registry)
            #expect(!plan.contains("subscription_by_type"), "\(plan)")
        }
    }
}
