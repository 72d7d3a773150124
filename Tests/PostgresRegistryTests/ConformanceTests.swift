import PostgresRegistry
import PushCore
import PushTestKit
import Testing

struct ConformanceTests {
    @Test("The PostgreSQL registry keeps what the port promises", arguments: RegistryConformance.all)
    func postgresRegistryConforms(_ conformance: RegistryConformance) async throws {
        try await Fixture.withRegistry { try conformance.check($0) }
    }

    @Test("Whatever is done to it, the PostgreSQL registry answers as the in-memory one does", arguments: 0..<10)
    func agreesWithTheOracle(_ round: Int) async throws {
        try await Fixture.withRegistry { registry in
            var walk = RegistryRandomWalk(registry, seed: UInt64.random(in: 0 ... .max))
            try walk.run(steps: 400)
        }
    }

    @Test("An identity with 20 000 devices is read in pages, each device once")
    func pagesThroughLargeIdentity() async throws {
        let registry = try await Fixture.makeRegistry()
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
