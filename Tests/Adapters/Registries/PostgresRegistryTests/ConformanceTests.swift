import PostgresRegistry
import PushTestKit
import Testing

struct ConformanceTests {
    @Test(
        "The PostgreSQL registry keeps what the ports promise",
        arguments: RegistryConformance.all + RegistryConformance.withCrowd)
    func postgresRegistryConforms(_ conformance: RegistryConformance) async throws {
        try await Fixture.withRegistry { try conformance.check($0) }
    }

    @Test("The PostgreSQL registry keeps to its quotas", arguments: QuotaConformance.all)
    func postgresRegistryHasQuotas(_ conformance: QuotaConformance) async throws {
        try await Fixture.withRegistry { try conformance.check($0) }
    }

    @Test("Whatever is done to it, the PostgreSQL registry answers as the in-memory one does", arguments: 0..<10)
    func agreesWithTheOracle(_ round: Int) async throws {
        try await Fixture.withRegistry { registry in
            var walk = RegistryRandomWalk(registry, seed: UInt64.random(in: 0 ... .max))
            try walk.run(steps: 400)
        }
    }

    @Test(
        "Whatever is done to subscriptions, the PostgreSQL registry answers as the in-memory one", arguments: 0..<8)
    func agreesWithTheOracleOnSubscriptions(_ round: Int) async throws {
        try await Fixture.withRegistry { registry in
            var walk = SubscriptionRandomWalk(registry, seed: UInt64.random(in: 0 ... .max))
            try walk.run(steps: 300)
        }
    }

    @Test("Whatever is counted, the PostgreSQL registry has the sums of the in-memory one", arguments: 0..<5)
    func agreesWithTheOracleOnCampaigns(_ round: Int) async throws {
        try await Fixture.withRegistry { registry in
            var walk = CampaignRandomWalk(registry, seed: UInt64.random(in: 0 ... .max))
            try walk.run(steps: 300)
        }
    }
}
