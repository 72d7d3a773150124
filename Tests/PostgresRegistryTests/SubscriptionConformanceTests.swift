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
}
