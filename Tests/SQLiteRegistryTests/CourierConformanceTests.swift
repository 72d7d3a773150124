import PushCore
import PushTestKit
import SQLiteRegistry
import Testing

struct CourierConformanceTests {
    @Test("The SQLite registry keeps what the port of messages promises", arguments: CourierConformance.all)
    func sqliteRegistryConforms(_ conformance: CourierConformance) throws {
        let folder = try TemporaryFolder()
        try conformance.check(try SQLiteRegistry.open(path: folder.path + "/registry.db", mode: .create))
    }

    @Test("The registry of the tests does so as well", arguments: CourierConformance.all)
    func inMemoryRegistryConforms(_ conformance: CourierConformance) throws {
        try conformance.check(InMemoryRegistry())
    }
}
