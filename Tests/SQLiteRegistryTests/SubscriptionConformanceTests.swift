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

    @Test("The registry of the tests does so as well", arguments: SubscriptionConformance.all)
    func inMemoryRegistryConforms(_ conformance: SubscriptionConformance) throws {
        try conformance.check(InMemoryRegistry())
    }
}
