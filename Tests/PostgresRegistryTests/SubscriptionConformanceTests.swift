import PostgresRegistry
import PushCore
import PushTestKit
import Testing

struct SubscriptionConformanceTests {
    @Test(
        "The PostgreSQL registry keeps what the port of subscriptions promises", arguments: SubscriptionConformance.all)
    func postgresRegistryConforms(_ conformance: SubscriptionConformance) async throws {
        try conformance.check(try await Fixture.makeRegistry())
    }

    @Test(
        "Whatever is done to subscriptions, the PostgreSQL registry answers as the in-memory one", arguments: 0..<8)
    func agreesWithTheOracle(_ round: Int) async throws {
        var walk = SubscriptionRandomWalk(try await Fixture.makeRegistry(), seed: UInt64.random(in: 0 ... .max))
        try walk.run(steps: 300)
    }
}
