import PushCore
import PushTestKit
import SQLiteRegistry
import Testing

struct ConformanceTests {
    @Test("The SQLite registry keeps what the port promises", arguments: RegistryConformance.all)
    func sqliteRegistryConforms(_ conformance: RegistryConformance) throws {
        let folder = try TemporaryFolder()
        try conformance.check(try SQLiteRegistry.open(path: folder.path + "/registry.db", mode: .create))
    }

    @Test("The registry of the tests keeps what the port promises", arguments: RegistryConformance.all)
    func inMemoryRegistryConforms(_ conformance: RegistryConformance) throws {
        try conformance.check(InMemoryRegistry())
    }

    @Test("Whatever is done to it, the SQLite registry answers as the in-memory one does", arguments: 0..<20)
    func agreesWithTheOracle(_ round: Int) throws {
        let folder = try TemporaryFolder()
        let registry = try SQLiteRegistry.open(path: folder.path + "/registry.db", mode: .create)
        var walk = RegistryRandomWalk(registry, seed: UInt64.random(in: 0 ... .max))
        try walk.run(steps: 400)
    }

    @Test("An identity with 20 000 devices is read in pages, each device once")
    func pagesThroughLargeIdentity() throws {
        let folder = try TemporaryFolder()
        let registry = try SQLiteRegistry.open(path: folder.path + "/registry.db", mode: .create)
        let count = 20_000
        let registrations = try (0..<count).map { index in
            DeviceRegistration(device: try Fixture.device(index, identity: "crowd"), datasetNames: ["settings"])
        }
        try registry.register(registrations)
        #expect(try registry.deviceCount() == count)
        let key = DatasetKey(identityPoolID: Fixture.pool, identityID: "crowd", datasetName: "settings")
        for audience in [Audience.dataset(key), .identities(["crowd"], app: "chat")] {
            let request = AudienceRequest(audience: audience, excludedDeviceID: "device-7")
            let devices = try RegistryPages.all(of: request, in: registry, limit: 999)
            #expect(devices.count == count - 1)
            #expect(Set(devices.map(\.deviceID)).count == count - 1)
        }
    }
}
