import PushCore
import PushTestKit
import SQLiteRegistry
import Testing

struct FanOutConformanceTests {
    @Test("The SQLite registry keeps what the port of fan-outs promises", arguments: FanOutConformance.all)
    func sqliteRegistryConforms(_ conformance: FanOutConformance) throws {
        let folder = try TemporaryFolder()
        try conformance.check(try SQLiteRegistry.open(path: folder.path + "/registry.db", mode: .create))
    }

    @Test("The registry of the tests does so as well", arguments: FanOutConformance.all)
    func inMemoryRegistryConforms(_ conformance: FanOutConformance) throws {
        try conformance.check(InMemoryRegistry())
    }

    @Test("A registry that may only be read says so when a fan-out is to begin")
    func refusesToBeginReadOnly() throws {
        let folder = try TemporaryFolder()
        _ = try SQLiteRegistry.open(path: folder.path + "/registry.db", mode: .create)
        let registry = try SQLiteRegistry.open(path: folder.path + "/registry.db", mode: .readOnly)
        let event = FanOutEvent(
            digest: EventDigest(source: "test", identifier: "1"), source: "test", identifier: "1",
            type: "push.requested")
        let error = #expect(throws: RegistryError.self) {
            _ = try registry.beginFanOut(event, planner: 1, nowMilliseconds: 0)
        }
        #expect(error?.code == .readOnly)
    }
}
