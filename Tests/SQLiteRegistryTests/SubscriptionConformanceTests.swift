import PushCore
import PushTestKit
import SQLiteRegistry
import Testing

struct SubscriptionConformanceTests {
    @Test("The SQLite registry keeps what the port of subscriptions promises", arguments: SubscriptionConformance.all)
    func sqliteRegistryConforms(_ conformance: SubscriptionConformance) throws {
        let folder = try TemporaryFolder()
        try conformance.check(try SQLiteRegistry.open(path: folder.path + "/registry.db", mode: .create))
    }

    @Test("Whatever is done to its subscriptions, the SQLite registry answers as the in-memory one", arguments: 0..<20)
    func agreesWithTheOracle(_ round: Int) throws {
        let folder = try TemporaryFolder()
        let registry = try SQLiteRegistry.open(path: folder.path + "/registry.db", mode: .create)
        var walk = SubscriptionRandomWalk(registry, seed: UInt64.random(in: 0 ... .max))
        try walk.run(steps: 300)
    }

    @Test("The registry of the tests does so as well", arguments: SubscriptionConformance.all)
    func inMemoryRegistryConforms(_ conformance: SubscriptionConformance) throws {
        try conformance.check(InMemoryRegistry())
    }
}
