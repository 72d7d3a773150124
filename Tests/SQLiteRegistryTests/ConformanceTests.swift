import PushCore
import PushTestKit
import SQLiteRegistry
import Testing

struct ConformanceTests {
    @Test("The SQLite registry keeps what the port promises", arguments: RegistryConformance.all)
    func sqliteRegistryConforms(_ conformance: RegistryConformance) throws {
        let folder = TemporaryFolder()
        try conformance.check(try SQLiteRegistry.open(path: folder.file("registry.db"), mode: .create))
    }

    @Test("The registry of the tests keeps what the port promises", arguments: RegistryConformance.all)
    func inMemoryRegistryConforms(_ conformance: RegistryConformance) throws {
        try conformance.check(InMemoryRegistry())
    }
}
