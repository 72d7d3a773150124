import PostgresRegistry
import PushCore
import PushTestKit
import Testing

struct FanOutConformanceTests {
    @Test("The PostgreSQL registry keeps what the port of fan-outs promises", arguments: FanOutConformance.all)
    func postgresRegistryConforms(_ conformance: FanOutConformance) async throws {
        try await Fixture.withRegistry { try conformance.check($0) }
    }
}
