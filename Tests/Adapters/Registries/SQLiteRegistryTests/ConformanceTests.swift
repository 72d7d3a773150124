import PushTestKit
import RegistryCore
import SQLiteRegistry
import Testing

struct ConformanceTests {
    @Test(
        "The SQLite registry keeps what the ports promise",
        arguments: RegistryConformance.all + RegistryConformance.withCrowd)
    func sqliteRegistryConforms(_ conformance: RegistryConformance) throws {
        let folder = try TemporaryFolder()
        try conformance.check(try SQLiteRegistry.open(path: folder.path + "/registry.db", mode: .create))
    }

    @Test("The SQLite registry keeps to its quotas", arguments: QuotaConformance.all)
    func sqliteRegistryHasQuotas(_ conformance: QuotaConformance) throws {
        let folder = try TemporaryFolder()
        try conformance.check(try SQLiteRegistry.open(path: folder.path + "/registry.db", mode: .create))
    }

    @Test("The registry of the tests keeps what the ports promise", arguments: RegistryConformance.all)
    func inMemoryRegistryConforms(_ conformance: RegistryConformance) throws {
        try conformance.check(InMemoryRegistry())
    }

    @Test("Whatever is done to it, the SQLite registry answers as the in-memory one does", arguments: 0..<5)
    func agreesWithTheOracle(_ round: Int) throws {
        let folder = try TemporaryFolder()
        let registry = try SQLiteRegistry.open(path: folder.path + "/registry.db", mode: .create)
        var walk = RegistryRandomWalk(registry, seed: UInt64.random(in: 0 ... .max))
        try walk.run(steps: 400)
    }

    @Test("Whatever is done to its subscriptions, the SQLite registry answers as the in-memory one", arguments: 0..<5)
    func agreesWithTheOracleOnSubscriptions(_ round: Int) throws {
        let folder = try TemporaryFolder()
        let registry = try SQLiteRegistry.open(path: folder.path + "/registry.db", mode: .create)
        var walk = SubscriptionRandomWalk(registry, seed: UInt64.random(in: 0 ... .max))
        try walk.run(steps: 300)
    }

    @Test("Whatever is counted, the SQLite registry has the sums of the in-memory one", arguments: 0..<5)
    func agreesWithTheOracleOnCampaigns(_ round: Int) throws {
        let folder = try TemporaryFolder()
        let registry = try SQLiteRegistry.open(path: folder.path + "/registry.db", mode: .create)
        var walk = CampaignRandomWalk(registry, seed: UInt64.random(in: 0 ... .max))
        try walk.run(steps: 300)
    }
}
