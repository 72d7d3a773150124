import PostgresRegistry
import PushCore
import PushTestKit
import Testing

struct SubscriptionConformanceTests {
    @Test(
        "The PostgreSQL registry keeps what the port of subscriptions promises", arguments: SubscriptionConformance.all)
    func postgresRegistryConforms(_ conformance: SubscriptionConformance) async throws {
        try await Fixture.withRegistry { try conformance.check($0) }
    }

    @Test(
        "Whatever is done to subscriptions, the PostgreSQL registry answers as the in-memory one", arguments: 0..<8)
    func agreesWithTheOracle(_ round: Int) async throws {
        try await Fixture.withRegistry { registry in
            var walk = SubscriptionRandomWalk(registry, seed: UInt64.random(in: 0 ... .max))
            try walk.run(steps: 300)
        }
    }
}
